// What a call keeps so that it survives a broken connection (see `voice/wire/resumption.py`). Pure.

const MOST_KEPT = 4 << 20; // Bytes: more than a minute of speech.
const FIRST_WAIT = 0.05;
const LONGEST_WAIT = 1;

// The messages that were sent, numbered from 1, as far as the server may still ask for them.
export class Outbox {
  count = 0;
  #kept = new Map();
  #size = 0;
  #most;

  constructor(most = MOST_KEPT) {
    this.#most = most;
  }

  add(message) {
    this.#kept.set(++this.count, message);
    this.#size += message.byteLength;
    for (const [number, { byteLength }] of this.#kept) {
      if (this.#size <= this.#most || this.#kept.size === 1) break;
      this.#kept.delete(number);
      this.#size -= byteLength;
    }
  }

  // What followed the first `received` messages; null if that is not kept any more, or was never sent.
  after(received) {
    if (!Number.isInteger(received) || received < 0 || received > this.count) return null;
    if (received < this.count && !this.#kept.has(received + 1)) return null;
    return [...this.#kept].filter(([number]) => number > received).map(([, message]) => message);
  }
}

// The message with which the server begins each connection of a call that can be taken up again; null for any other.
export function resumeOf(frame) {
  const data = frame?.type === "message" && frame.message?.type === "server-message" ? frame.message.data : null;
  return data?.type === "resume" ? data : null;
}

// Where a call is taken up again, of which so many messages have arrived. The token of the call replaces the server's.
export function resumptionUrl(url, token, received) {
  const address = new URL(url);
  for (const begins of ["token", "resumes"]) address.searchParams.delete(begins);
  address.searchParams.set("resume", token);
  address.searchParams.set("received", received);
  return address.href;
}

// Seconds before the next attempt, after one that came after `wait`.
export function nextWait(wait) {
  return wait === 0 ? FIRST_WAIT : Math.min(2 * wait, LONGEST_WAIT);
}

const GONE = 4410; // The server does not know the call any more.
const BROKEN = [1001, 1006, 1012, GONE];
const FULL = 1013;

// How a call has ended, by the code and the reason with which its connection was closed: `again` says whether calling
// anew may help at once, `sentence` what to tell the caller, if anything.
export function endingOf(code, reason, farewell) {
  if (farewell || code === 1000) return { again: false, sentence: "" };
  if (BROKEN.includes(code)) return { again: true, sentence: "" };
  const clause = reason || `it closed the connection with code ${code}`;
  const subject = code === FULL ? "The server takes no more calls now" : "The server ended the call";
  return { again: false, sentence: `${subject}: ${clause}.` };
}
