// Microphone and loudspeaker of a call: the media manager of pipecat's transport.
//
// Its own recorder keeps all that it has recorded, and its player cannot drop audio when the user interrupts. The
// browser cancels echo, suppresses noise and evens out levels.

import { SpeechEnd } from "./speech_end.js";

const IN_RATE = 16000;
const OUT_RATE = 24000;
const LONGEST_DRAIN = 10; // Seconds.
const MIC = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };

export class Sound extends EventTarget {
  heard = new SpeechEnd(); // By the microphone, on the page's clock.
  #send = () => {};
  #capture = null;
  #playout = null;
  #stream = null;
  #node = null;
  #speaker = null;
  #mic = "";
  #enabled = true;
  #drained = () => {};

  // What the transport asks of a media manager.
  setUserAudioCallback(send) {
    this.#send = send;
  }
  setClientOptions() {}
  async initialize() {
    if (this.#playout) return;
    this.#playout = new AudioContext({ sampleRate: OUT_RATE, latencyHint: "interactive" });
    await this.#playout.audioWorklet.addModule("/page/playout.js");
    this.#speaker = new AudioWorkletNode(this.#playout, "playout", { numberOfInputs: 0, outputChannelCount: [1] });
    this.#speaker.connect(this.#playout.destination);
    this.#speaker.port.onmessage = ({ data }) => this.#heard(data);
    await this.#playout.resume();
    await this.#open();
  }
  async connect() {
    await this.initialize();
  }
  async disconnect() {
    this.#close();
    await this.#playout?.close();
    this.#playout = this.#speaker = null;
  }
  bufferBotAudio(pcm) {
    this.#speaker?.port.postMessage({ pcm }, [pcm.buffer]);
  }
  async userStartedSpeaking() {}
  async getAllMics() {
    return (await navigator.mediaDevices.enumerateDevices()).filter((device) => device.kind === "audioinput");
  }
  async getAllCams() {
    return [];
  }
  async getAllSpeakers() {
    return (await navigator.mediaDevices.enumerateDevices()).filter((device) => device.kind === "audiooutput");
  }
  async updateMic(id) {
    this.#mic = id;
    if (this.#playout) await this.#open();
  }
  async updateSpeaker(id) {
    await this.#playout?.setSinkId?.(id === "default" ? "" : id);
  }
  enableMic(enable) {
    this.#enabled = enable;
    for (const track of this.#stream?.getAudioTracks() ?? []) track.enabled = enable;
  }
  get isMicEnabled() {
    return this.#enabled;
  }
  get selectedMic() {
    return {};
  }
  get selectedSpeaker() {
    return {};
  }
  tracks() {
    return { local: {} };
  }

  // What the transport does not know.
  flush() {
    this.#speaker?.port.postMessage({ flush: true, gain: 1 });
  }
  // When all that the server has sent was played.
  drained() {
    return new Promise((done) => {
      this.#drained = done;
      if (this.#speaker) this.#speaker.port.postMessage({ drain: true });
      else done();
      setTimeout(done, LONGEST_DRAIN * 1000);
    });
  }
  duck(gain) {
    this.#speaker?.port.postMessage({ gain });
  }

  async #open() {
    this.#close();
    const chosen = this.#mic ? { deviceId: { exact: this.#mic } } : {};
    this.#stream = await navigator.mediaDevices.getUserMedia({ audio: { ...MIC, ...chosen } });
    this.enableMic(this.#enabled);
    for (const track of this.#stream.getAudioTracks()) {
      track.onended = () => this.dispatchEvent(new Event("unplugged"));
    }
    this.#capture = new AudioContext({ sampleRate: IN_RATE, latencyHint: "interactive" });
    await this.#capture.audioWorklet.addModule("/page/capture.js");
    this.#node = new AudioWorkletNode(this.#capture, "capture", { numberOfOutputs: 0 });
    this.#node.port.onmessage = ({ data }) => {
      this.#send(data.pcm.buffer);
      this.heard.hear(performance.now() / 1000, data.peak);
      this.dispatchEvent(new CustomEvent("level", { detail: data.peak }));
    };
    this.#capture.createMediaStreamSource(this.#stream).connect(this.#node);
  }

  #close() {
    for (const track of this.#stream?.getTracks() ?? []) {
      track.onended = null;
      track.stop();
    }
    void this.#capture?.close();
    this.#stream = this.#capture = this.#node = null;
  }

  #heard({ started, stopped, drained }) {
    if (drained) return void this.#drained();
    const kind = started === undefined ? "quiet" : "sound";
    const { contextTime, performanceTime } = this.#playout.getOutputTimestamp();
    // Until the device has played anything, only its announced latency is known.
    const at = performanceTime
      ? performanceTime + ((started ?? stopped) - contextTime) * 1000
      : performance.now() + (this.#playout.outputLatency || 0) * 1000;
    this.dispatchEvent(new CustomEvent(kind, { detail: at / 1000 }));
  }
}
