// What the page of calls shows of a call. Pure.

import { LIMIT } from "./turns.js";

const STATES = { listening: "listening", answering: "preparing an answer", speaking: "speaking", away: "connection lost, waiting" };

// Seconds as minutes and seconds, or hours, minutes and seconds.
export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const ending = String(rest).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${ending}` : `${minutes}:${ending}`;
}

export function milliseconds(seconds) {
  return seconds == null ? "–" : `${Math.round(seconds * 1000)} ms`;
}

// The cells of a call's row: heading, text, class.
export function cellsOf(call) {
  const tail = call.p95 ?? call.slowest;
  return [
    ["call", String(call.number), ""],
    ["for", clock(call.seconds), ""],
    ["state", STATES[call.state] ?? call.state, call.state],
    ["turns", call.typed ? `${call.turns} (${call.typed} typed)` : String(call.turns), ""],
    ["late", String(call.late), call.late ? "late" : ""],
    ["median", milliseconds(call.p50), verdictOf(call.p50)],
    [call.p95 == null && tail != null ? "slowest" : "95th percentile", milliseconds(tail), verdictOf(tail)],
    ["answered by", call.answered_by ?? "–", ""],
  ];
}

export function headline(calls) {
  if (!calls.length) return "None now";
  return calls.length === 1 ? "1 call" : `${calls.length} calls`;
}

function verdictOf(seconds) {
  return seconds == null ? "" : seconds > LIMIT ? "late" : "in-time";
}
