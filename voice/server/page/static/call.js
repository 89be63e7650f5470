// A call: pipecat's client with the page's sound, the server's clock, and what the server sends beyond RTVI.
import { LogLevel, PipecatClient, ProtobufFrameSerializer, WebSocketTransport } from "./pipecat.js";
import { ResumingSocket } from "./resuming_socket.js";
import { endingOf } from "./resumption.js";
import { Sound } from "./sound.js";

const INTERRUPTION = (5 << 3) | 2; // The first byte of pipecat's protobuf frame "interruption", which the library lacks.
const TOKEN_NEEDED = 401;
const PING_EVERY = 5; // Seconds; a connection over which nothing comes for twice as long is made again.

export class Refused extends Error {
  constructor(message, needsToken = false) {
    super(message);
    this.needsToken = needsToken;
  }
}

class Serializer extends ProtobufFrameSerializer {
  constructor(interrupted) {
    super();
    this.interrupted = interrupted;
  }

  async deserialize(data) {
    const first = new Uint8Array(await data.slice(0, 1).arrayBuffer())[0];
    if (first !== INTERRUPTION) return super.deserialize(data);
    this.interrupted();
    return { type: "interruption" };
  }
}

class Transport extends WebSocketTransport {
  constructor(options, events) {
    super(options);
    this.events = events;
  }

  // pipecat's own connects again, too, but to another call.
  initializeWebsocket() {
    this.socket = new ResumingSocket(this._wsUrl, {
      decode: (data) => this._serializer.deserialize(data),
      receive: ({ type, audio, message }) => {
        if (type === "audio") this._mediaManager.bufferBotAudio(audio);
        if (type === "message" && message.label === "rtvi-ai") this._onMessage(message);
      },
      ...this.events,
    });
    return this.socket;
  }
}

// Events: "state" (idle, calling, live, away, lost, over), "resumed" (seconds without a connection), "turn", "said", "heard", "quiet", "sound", "level", "trouble", "models".
export class Call extends EventTarget {
  state = "idle";
  sound = new Sound();
  #client = null;
  #transport = null;
  #offset = null;
  #farewell = false;
  #refuse = () => {};
  #pinging = null;

  constructor() {
    super();
    for (const kind of ["sound", "quiet"]) {
      this.sound.addEventListener(kind, ({ detail }) => this.#emit(kind, this.serverTime(detail)));
    }
    this.sound.addEventListener("level", ({ detail }) => this.#emit("level", detail));
    this.sound.addEventListener("unplugged", () => this.#unplugged());
  }

  // Begins a call. Throws `Refused` with a sentence.
  async start(token = "") {
    this.#farewell = false;
    this.#become("calling");
    try {
      const wsUrl = await this.#address(token);
      await this.sound.initialize();
      const refused = new Promise((_, reject) => (this.#refuse = reject));
      this.#client = this.#made();
      await Promise.race([this.#client.connect({ wsUrl }), refused]);
    } catch (error) {
      await this.#drop();
      this.#become("idle");
      throw error instanceof Refused ? error : new Refused(reasonOf(error));
    }
    this.#become("live");
    await this.#readClock();
    this.#pinging = setInterval(() => this.#ping(), PING_EVERY * 1000);
    await this.swap({});
  }

  async end() {
    await this.#drop();
    this.#become("idle");
  }

  // Seconds on the server's clock; null while that is unknown.
  serverTime(seconds) {
    return this.#offset === null || seconds === null ? null : seconds + this.#offset;
  }

  // When the microphone heard the end of the speech with these marks, seconds on the server's clock; null if unknown.
  speechEnd({ vad_stop: sure }) {
    if (sure == null || this.#offset === null) return null;
    return this.serverTime(this.sound.heard.before(sure - this.#offset));
  }

  say(text) {
    return this.#client?.sendText(text, { run_immediately: true, audio_response: true });
  }

  // Asks for a policy or a tier, or with {} what is in force.
  async swap(choice) {
    try {
      this.#emit("models", await this.#client.sendClientRequest("llm", choice, 5000));
    } catch {
      this.#emit("models", null); // It answers without a language model.
    }
  }

  #made() {
    this.#transport = new Transport(
      { mediaManager: this.sound, serializer: new Serializer(() => this.sound.flush()) },
      {
        lost: () => this.state === "live" && this.#become("away"),
        resumed: (seconds) => this.#resumed(seconds),
        closed: (code, reason) => void this.#closed(code, reason),
      },
    );
    const client = new PipecatClient({
      transport: this.#transport,
      enableMic: true,
      enableCam: false,
      callbacks: {
        onUserTranscript: ({ text, final }) => this.#emit("heard", { text, final }),
        onBotOutput: (output) => this.#emit("said", output),
        onServerMessage: (message) => this.#told(message),
        onError: (message) => this.#emit("trouble", String(message?.data?.error ?? message?.data?.message ?? "")),
      },
    });
    client.setLogLevel(LogLevel.WARN);
    return client;
  }

  async #address(token) {
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const response = await fetch("/start", { method: "POST", headers }).catch(() => {
      throw new Refused("The server does not answer.");
    });
    const said = await response.json().catch(() => ({}));
    if (!response.ok) throw new Refused(said.error ?? `The server answered ${response.status}.`, response.status === TOKEN_NEEDED);
    return `${said.wsUrl}${said.wsUrl.includes("?") ? "&" : "?"}ducks=1&resumes=1`;
  }

  async #readClock() {
    let best = Infinity;
    for (let count = 0; count < 5 && this.#client; count++) {
      const sent = performance.now() / 1000;
      const pong = await this.#client.sendClientRequest("clock", { client: sent }, 5000).catch(() => null);
      const back = performance.now() / 1000;
      if (pong && back - sent < best) {
        best = back - sent;
        this.#offset = pong.server - (sent + back) / 2;
      }
    }
  }

  #told(message) {
    if (message?.type === "turn") this.#emit("turn", message);
    if (message?.type === "duck") this.sound.duck(message.gain);
    if (message?.type === "ended") this.#farewell = true;
  }

  #resumed(seconds) {
    if (this.state !== "away") return;
    this.#become("live");
    this.#emit("resumed", seconds);
  }

  async #closed(code, reason) {
    const { again, sentence } = endingOf(code, reason, this.#farewell);
    this.#refuse(new Refused(sentence || "The connection was lost before the call began: call again."));
    if (this.state !== "live" && this.state !== "away") return;
    if (sentence) this.#emit("trouble", sentence);
    if (!again) await this.sound.drained();
    if (this.state !== "live" && this.state !== "away") return;
    this.#become(again ? "lost" : "over");
    await this.#drop();
  }

  #ping() {
    this.#transport?.socket.check(2 * PING_EVERY);
    void this.#client?.sendClientRequest("clock", {}, 5000).catch(() => null);
  }

  async #unplugged() {
    this.#emit("trouble", "The microphone was unplugged; the usual one is taken.");
    await this.sound.updateMic("").catch((error) => this.#emit("trouble", reasonOf(error)));
  }

  async #drop() {
    const client = this.#client;
    this.#client = this.#transport = this.#offset = null;
    clearInterval(this.#pinging);
    await client?.disconnect().catch(() => {});
    await this.sound.disconnect().catch(() => {});
  }

  #become(state) {
    this.state = state;
    this.#emit("state", state);
  }

  #emit(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }
}

const SENTENCES = {
  NotAllowedError: "The browser may not use the microphone: allow it for this page, and call again.",
  NotFoundError: "There is no microphone: connect one, and call again.",
  NotReadableError: "Another program holds the microphone: close it there, and call again.",
  OverconstrainedError: "The chosen microphone is gone: choose another one.",
};

export function reasonOf(error) {
  return SENTENCES[error?.name] ?? `The call could not begin: ${error?.message ?? error}`;
}

// What keeps this browser from calling; null when nothing does.
export function obstacle() {
  if (!window.isSecureContext) return "Browsers give their microphone only to pages on this machine or with TLS (https).";
  if (!navigator.mediaDevices?.getUserMedia || !window.AudioWorkletNode) return "This browser is too old to take part in a call.";
  return null;
}
