// A turn on the page: what was said, and a bar of what it took against 800 ms.
import { LIMIT, latencyOf, remarksOf, stagesOf } from "./turns.js";

const AXIS = 1.6; // Seconds that a bar shows at least.
const CLASSES = { "turn end": "end", model: "model", voice: "voice", way: "way" };

export class TurnCard {
  ended = null; // When the microphone heard the end of the user's speech,
  audible = null; // and when the answer was first heard; on the server's clock, seconds.
  turn = null;
  element = document.createElement("li");
  #typed;
  #typedAt;
  #partial = "";
  #spoken = new Map(); // The pieces of the agent's words: how far each was heard, and what is left.

  // A turn that is typed at an instant of the server's clock, instead of spoken.
  constructor(typed = "", at = null) {
    this.#typed = typed;
    this.#typedAt = at;
  }

  // When it was the agent's turn, seconds on the server's clock; null while that is unknown.
  get committed() {
    return this.turn?.marks.turn_commit ?? this.#typedAt;
  }

  // Words that are recognised and may still change.
  hearing(text) {
    this.#partial = text;
    this.draw();
  }

  // A piece of the agent's words, again whenever more of it was heard.
  speaking(piece, heard, left) {
    this.#spoken.set(piece, { heard, left });
    this.draw();
  }

  update(turn) {
    this.turn = turn;
    this.draw();
  }

  get latency() {
    return this.turn && latencyOf(this.turn, this.ended, this.audible);
  }

  draw() {
    const { turn } = this;
    const parts = [];
    const latency = this.latency;
    if (latency != null) {
      parts.push(made("span", `took ${latency > LIMIT ? "late" : "in-time"}`, `${Math.round(latency * 1000)} ms`));
    }
    const heard = turn?.heard || this.#typed;
    if (turn || heard || this.#partial) parts.push(line("you", heard || this.#partial || "…", heard ? "" : "partial"));
    if (this.#spoken.size) parts.push(this.#answer());
    const stages = turn && this.#spoken.size ? stagesOf(turn, this.ended, this.audible) : [];
    if (stages.length) parts.push(bar(stages), key(stages));
    const remarks = turn ? remarksOf(turn) : this.#typed ? ["typed"] : [];
    if (remarks.length) parts.push(made("div", "remarks", remarks.join(" · ")));
    this.element.replaceChildren(...parts);
  }

  // Heard words are bright, words that have not been heard (yet) dim.
  #answer() {
    const element = line("agent", "", "");
    for (const { heard, left } of this.#spoken.values()) {
      element.append(made("span", "", heard), made("span", "unheard", left), " ");
    }
    return element;
  }
}

function bar(stages) {
  const end = Math.max(AXIS, stages.at(-1).to);
  const element = made("div", "bar");
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", stages.map(({ name, from, to }) => `${name} ${ms(to - from)}`).join(", "));
  for (const { name, from, to } of stages) {
    const piece = made("i", CLASSES[name]);
    place(piece, from / end, (to - from) / end);
    element.append(piece);
  }
  const limit = made("i", "limit");
  place(limit, LIMIT / end);
  element.append(limit);
  return element;
}

function place(piece, left, width) {
  piece.style.left = `${left * 100}%`;
  if (width !== undefined) piece.style.width = `${width * 100}%`;
}

function key(stages) {
  const element = made("div", "key");
  for (const { name, meaning, from, to } of stages) {
    const entry = made("span", CLASSES[name], `${name} ${ms(to - from)}`);
    entry.title = meaning;
    element.append(entry);
  }
  return element;
}

const ms = (seconds) => `${Math.round(seconds * 1000)} ms`;

function line(who, text, kind) {
  const element = made("p", kind);
  element.append(made("span", "who", who), text);
  return element;
}

function made(tag, kind, text = "") {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.textContent = text;
  return element;
}
