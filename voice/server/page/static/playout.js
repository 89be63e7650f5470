// Audio worklet: plays 16-bit samples in order, and reports when sound begins and ends. An interruption drops the rest.
const AUDIBLE = 10 ** (-45 / 20); // As `latency` finds onsets: above -45 dBFS.
const SUSTAINED = 0.02; // Seconds that a sound must last to count.
const SILENT = 0.3; // Seconds without sound after which the next one is a new utterance.

class Playout extends AudioWorkletProcessor {
  constructor() {
    super();
    this.drop();
    this.gain = this.target = 1;
    this.lastLoud = -Infinity;
    this.firstLoud = null;
    this.sounding = this.draining = false;
    this.port.onmessage = ({ data }) => this.receive(data);
  }

  receive({ pcm, gain, flush, drain }) {
    if (drain) this.draining = true;
    if (pcm) this.queue.push(pcm);
    if (gain !== undefined) this.target = gain;
    if (flush) this.drop();
  }

  drop() {
    this.queue = [];
    this.at = 0;
  }

  process(_, [output]) {
    const step = 1 / (0.02 * sampleRate); // A change of loudness takes 20 ms, so that it does not click.
    for (let index = 0; index < output[0].length; index++) {
      this.gain += Math.max(-step, Math.min(step, this.target - this.gain));
      const value = (this.next() / 32768) * this.gain;
      for (const channel of output) channel[index] = value;
      if (Math.abs(value) > AUDIBLE) this.loud(currentTime + index / sampleRate);
    }
    if (this.draining && !this.queue.length) {
      this.draining = false;
      this.port.postMessage({ drained: true });
    }
    if (this.sounding && currentTime - this.lastLoud > SILENT) {
      this.sounding = false;
      this.port.postMessage({ stopped: this.lastLoud });
    }
    return true;
  }

  loud(now) {
    if (now - this.lastLoud > SUSTAINED) this.firstLoud = now;
    this.lastLoud = now;
    if (!this.sounding && now - this.firstLoud >= SUSTAINED) {
      this.sounding = true;
      this.port.postMessage({ started: this.firstLoud });
    }
  }

  next() {
    while (this.queue.length && this.at >= this.queue[0].length) {
      this.queue.shift();
      this.at = 0;
    }
    return this.queue.length ? this.queue[0][this.at++] : 0;
  }
}

registerProcessor("playout", Playout);
