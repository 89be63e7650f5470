// When the user stopped speaking, by the level of the microphone. Pure.
//
// The limit is that of `latency.audio.onset.estimated_speech`, on the peaks of short blocks: 10 dB above the room and
// 35 dB below the loudest, but at most 20 dB below that and at least 3 dB above the room.

const KEPT = 10; // Seconds.
const ROOM = 0.04; // The room's level is this quantile of the peaks.
const SILENCE = 0.06; // Seconds of it that make an end.
const EARLIEST = 0.6; // Seconds before the server's detector was sure; what ended sooner is other speech.

export class SpeechEnd {
  #blocks = [];

  // A block that ended at `at`, seconds on any clock, had this peak (0 to 1).
  hear(at, peak) {
    this.#blocks.push({ at, peak });
    while (this.#blocks[0].at < at - KEPT) this.#blocks.shift();
  }

  // When the last sound ended before the server's detector was sure at `sure` that there was no more; null if that
  // cannot be told.
  before(sure) {
    const blocks = this.#blocks.filter(({ at }) => at <= sure);
    const peaks = blocks.map(({ peak }) => peak).sort((one, other) => one - other);
    const loudest = peaks.at(-1) ?? 0;
    if (!loudest) return null;
    const room = peaks[Math.floor(peaks.length * ROOM)];
    const limit = Math.max(Math.min(Math.max(room * gain(10), loudest * gain(-35)), loudest * gain(-20)), room * gain(3));
    const last = blocks.findLastIndex(({ peak }) => peak > limit);
    if (last < 1) return null;
    // Somewhere in its last block, so half a block before its end.
    const end = (blocks[last].at + blocks[last - 1].at) / 2;
    return sure - end < SILENCE || sure - end > EARLIEST ? null : end;
  }
}

function gain(decibels) {
  return 10 ** (decibels / 20);
}
