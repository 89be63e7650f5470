// Audio worklet: the microphone as 16-bit samples, in messages of 20 ms. Keeps nothing.
class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.pcm = new Int16Array(Math.round(sampleRate / 50));
    this.used = 0;
    this.peak = 0;
  }

  process([input]) {
    for (const sample of input[0] ?? []) {
      const bounded = Math.max(-1, Math.min(1, sample));
      this.peak = Math.max(this.peak, Math.abs(bounded));
      this.pcm[this.used++] = bounded * 32767;
      if (this.used === this.pcm.length) {
        const pcm = this.pcm.slice();
        this.port.postMessage({ pcm, peak: this.peak }, [pcm.buffer]);
        this.used = this.peak = 0;
      }
    }
    return true;
  }
}

registerProcessor("capture", Capture);
