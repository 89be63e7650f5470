// What a turn took, from the server's report of it and the instants at which the microphone heard the end of the speech
// (`ended`, null if it could not tell) and the loudspeaker the answer's first sound (`audible`). Pure.

export const LIMIT = 0.8; // Seconds after which people feel a pause.

const FAST_SPEEDS = ["fast", "priority"]; // OpenAI's older name for it, too.

// The stages of a turn, each with seconds after the end of the user's speech; unknown ones are left out.
export function stagesOf({ marks }, ended, audible) {
  const zero = ended ?? marks.speech_end ?? marks.vad_stop;
  if (zero == null || marks.turn_commit == null) return [];
  const instants = [
    ["turn end", "waiting until it was clear that you had finished", marks.turn_commit],
    ["model", "the language model, to its first clause", marks.llm_first_clause],
    ["voice", "synthesis, to its first sample", marks.tts_first_sample],
    ["way", "network and playout, until you heard it", audible],
  ];
  const stages = [];
  let from = 0;
  for (const [name, meaning, at] of instants) {
    if (at == null) continue;
    const to = Math.max(from, at - zero);
    stages.push({ name, meaning, from, to });
    from = to;
  }
  return stages;
}

// Seconds from the end of the user's speech to the first sound; null while it is unknown.
export function latencyOf({ marks }, ended, audible) {
  const zero = ended ?? marks.speech_end ?? marks.vad_stop;
  return zero == null || audible == null ? null : Math.max(0, audible - zero);
}

// Which model answered, and what is worth knowing of how.
export function remarksOf(turn) {
  const spoken = turn.attempts.find((attempt) => attempt.outcome === "spoken");
  const response = turn.responses.findLast((one) => one.commit != null || one.limit != null);
  const remarks = turn.typed ? ["typed"] : [];
  const speed = spoken?.served ?? spoken?.speed;
  const fast = FAST_SPEEDS.includes(speed) ? `${speed} ↯` : speed;
  if (spoken) remarks.push([spoken.tier, spoken.model, fast].filter(Boolean).join(" · "));
  if (response?.policy) remarks.push(`${response.policy}: ${response.reason}`);
  if (turn.opening) remarks.push(`bridged by “${turn.opening}”`);
  if (turn.interrupted) remarks.push("interrupted");
  if (turn.joined) remarks.push("goes on from the turn before");
  if (turn.failed) remarks.push(`failed: ${turn.failed}`);
  return remarks;
}

export function costOf(turn) {
  return turn.attempts.reduce((sum, attempt) => sum + (attempt.usd ?? 0), 0);
}

// The share of percent `p` of some numbers, by linear interpolation; null for none.
export function percentile(numbers, p) {
  const sorted = [...numbers].sort((one, other) => one - other);
  if (!sorted.length) return null;
  const at = ((sorted.length - 1) * p) / 100;
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}
