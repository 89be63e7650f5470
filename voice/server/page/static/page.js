// The page: its controls, the conversation, and the latency of its turns.
import { Call, Refused, obstacle } from "./call.js";
import { TurnCard } from "./turn_card.js";
import { LIMIT, costOf, percentile } from "./turns.js";

const MOST_SHOWN = 50;
const ENOUGH = 20; // Turns that a 95th percentile needs.
const RETRIES = [0.5, 1, 2, 4, 8]; // Seconds between attempts after the connection was lost.
const STATES = {
  idle: "Ready",
  calling: "Connecting…",
  live: "On the line",
  away: "The connection was lost; taking the call up again…",
  lost: "The connection was lost; calling again…",
  over: "The call is over",
};
const TYPED = "typed";
const NOTICE = 10; // Seconds for which it is said that a call goes on.

const page = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id, element]));
const call = new Call();
let cards = new Map(); // By the turn's number in the call; one that is typed, by `TYPED` until the server reports it.
let spokenOn = new Map(); // The card on which each piece of the agent's words stands.
let hearing = null; // The card of a turn that the server has not reported yet.
let retry = 0;
let token = "";

function card(number, typed = false) {
  if (!cards.has(number)) {
    const waiting = typed && [...cards.keys()].find((key) => String(key).startsWith(TYPED));
    const found = cards.get(waiting) ?? (typed ? null : hearing) ?? new TurnCard();
    if (!typed) hearing = null;
    cards.delete(waiting);
    cards.set(number, found);
    show(found);
  }
  return cards.get(number);
}

// A turn grows while it is spoken. Whoever has scrolled up to read is left there.
const growing = new ResizeObserver(([entry]) => {
  const low = entry.target.getBoundingClientRect().bottom - innerHeight;
  if (low < entry.target.offsetHeight) entry.target.scrollIntoView({ block: "nearest" });
});

function show(shown) {
  if (!shown.element.isConnected) page.turns.append(shown.element);
  growing.disconnect();
  growing.observe(page.turns.lastChild);
  while (page.turns.children.length > MOST_SHOWN) page.turns.firstChild.remove();
  page.hint.hidden = true;
  shown.element.scrollIntoView({ block: "nearest" });
}

function drawFigures() {
  const latencies = [...cards.values()].map((one) => one.latency).filter((latency) => latency != null);
  // Of few turns, the 95th percentile is little more than the slowest one.
  const tail = latencies.length < ENOUGH ? 100 : 95;
  page.tail.textContent = tail === 100 ? "slowest, ms" : "95th percentile, ms";
  for (const [id, p] of [["p50", 50], ["p95", tail]]) {
    const value = percentile(latencies.slice(-MOST_SHOWN), p);
    page[id].textContent = value == null ? "–" : Math.round(value * 1000);
    page[id].className = value == null ? "" : value > LIMIT ? "late" : "in-time";
  }
  page.count.textContent = latencies.length;
  const cost = [...cards.values()].reduce((sum, one) => sum + (one.turn ? costOf(one.turn) : 0), 0);
  page.cost.parentElement.hidden = !cost;
  page.cost.textContent = cost.toFixed(4);
}

function trouble(sentence) {
  page.trouble.textContent = sentence ?? "";
  page.trouble.hidden = !sentence;
}

async function begin() {
  trouble();
  cards = new Map();
  spokenOn = new Map();
  hearing = null;
  try {
    await call.start(token);
    retry = 0;
    page.admission.hidden = true;
    await listDevices();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    page.admission.hidden = !error.needsToken;
    if (error.needsToken) page.token.focus();
    trouble(error.message);
    return false;
  }
  return true;
}

async function again() {
  const seconds = RETRIES[retry++];
  if (seconds === undefined) {
    page.state.textContent = "The connection was lost";
    trouble("The server cannot be reached any more. Call again when it runs.");
    return;
  }
  await new Promise((done) => setTimeout(done, seconds * 1000));
  if (call.state !== "lost" && call.state !== "idle") return;
  const before = retry;
  if (await begin()) trouble("The connection was lost, and this is a new call: the agent does not know what was said before.");
  else {
    retry = before;
    await again();
  }
}

async function listDevices() {
  const [mics, speakers] = await Promise.all([call.sound.getAllMics(), call.sound.getAllSpeakers()]);
  fill(page.mic, mics.map(({ deviceId, label }) => [deviceId, label || "microphone"]));
  fill(page.speaker, speakers.map(({ deviceId, label }) => [deviceId, label || "loudspeaker"]));
  page.speaker.parentElement.hidden = !speakers.length || !("setSinkId" in AudioContext.prototype);
}

function fill(select, options, chosen = select.value) {
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value, false, value === chosen)));
}

call.addEventListener("state", ({ detail: state }) => {
  const live = state === "live" || state === "away";
  page.state.textContent = STATES[state];
  page.call.textContent = live ? "Hang up" : state === "calling" ? "…" : state === "over" ? "Call again" : "Call";
  page.call.classList.toggle("live", live);
  page.call.disabled = state === "calling";
  for (const id of ["mute", "speed", "text", "send"]) page[id].disabled = !live;
  if (!live) page.level.value = 0;
  if (state === "lost") void again();
});

call.addEventListener("resumed", ({ detail: seconds }) => {
  const sentence = `The connection was lost for ${seconds.toFixed(1)} s; the call goes on where it was.`;
  trouble(sentence);
  setTimeout(() => page.trouble.textContent === sentence && trouble(), NOTICE * 1000);
});

call.addEventListener("heard", ({ detail: { text, final } }) => {
  if (final) return; // The server's report of the turn has it.
  hearing ??= new TurnCard();
  hearing.hearing(text);
  show(hearing);
});

call.addEventListener("said", ({ detail: output }) => {
  if (!output.will_be_spoken) return;
  const { accumulated_text: heard = "", remaining_text: left = output.text } = output.spoken_progress ?? {};
  const speaker = spokenOn.get(output.segment_id) ?? [...cards.values()].at(-1) ?? card(-1);
  spokenOn.set(output.segment_id, speaker);
  speaker.speaking(output.segment_id, heard, left);
});

call.addEventListener("turn", ({ detail: turn }) => {
  if (!turn.heard && !turn.said && !hearing && !cards.has(turn.turn)) return;
  const updated = card(turn.turn, turn.typed);
  updated.ended ??= call.speechEnd(turn.marks);
  updated.update(turn);
  drawFigures();
});

call.addEventListener("sound", ({ detail: at }) => {
  // The sound belongs to the newest turn that was committed before it.
  const turns = [...cards.values()].filter((one) => one.committed != null && at >= one.committed);
  const newest = turns.sort((one, other) => one.committed - other.committed).at(-1);
  if (!newest?.turn || newest.audible !== null || at == null) return;
  newest.audible = at;
  newest.draw();
  drawFigures();
});

call.addEventListener("level", ({ detail: peak }) => {
  page.level.value = Math.max(peak, page.level.value * 0.8);
});

call.addEventListener("trouble", ({ detail: sentence }) => trouble(sentence));

call.addEventListener("models", ({ detail: state }) => {
  page.models.parentElement.hidden = !state || state.tiers.length < 2;
  page.speed.hidden = !state?.speed; // The large model has only one.
  if (!state) return;
  page.speed.setAttribute("aria-pressed", state.speed === "fast");
  const options = [...state.policies.map((name) => [`policy:${name}`, name]), ...state.tiers.map((name) => [`tier:${name}`, `${name} only`])];
  fill(page.models, options, state.tier ? `tier:${state.tier}` : `policy:${state.policy}`);
  if (state.overridden) trouble(`${state.overridden[0].toUpperCase()}${state.overridden.slice(1)}.`);
});

page.call.onclick = () => void (call.state === "live" || call.state === "away" ? call.end() : begin());
page.mute.onclick = () => {
  const muted = call.sound.isMicEnabled;
  call.sound.enableMic(!muted);
  page.mute.setAttribute("aria-pressed", muted);
  page.mute.textContent = muted ? "Muted" : "Mute";
};
page.mic.onchange = () => void call.sound.updateMic(page.mic.value).catch((error) => trouble(error.message));
page.speaker.onchange = () => void call.sound.updateSpeaker(page.speaker.value).catch((error) => trouble(error.message));
page.models.onchange = () => {
  const [kind, name] = page.models.value.split(":");
  void call.swap({ [kind]: name });
};
page.speed.onclick = () => {
  const fast = page.speed.getAttribute("aria-pressed") === "true";
  void call.swap({ speed: fast ? "standard" : "fast" });
};
page.typing.onsubmit = (event) => {
  event.preventDefault();
  const text = page.text.value.trim();
  page.text.value = "";
  if (!text) return;
  const typed = new TurnCard(text, call.serverTime(performance.now() / 1000));
  cards.set(`${TYPED} ${cards.size}`, typed);
  typed.draw();
  show(typed);
  void call.say(text);
};
page.admission.onsubmit = (event) => {
  event.preventDefault();
  token = page.token.value;
  void begin();
};
document.addEventListener("keydown", (event) => {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  const button = { m: page.mute, f: page.speed }[event.key.toLowerCase()];
  if (button && !typing && !event.ctrlKey && !event.metaKey && !button.disabled && !button.hidden) button.click();
});
navigator.mediaDevices?.addEventListener("devicechange", () => void (call.state === "live" && listDevices()));

const why = obstacle();
page.call.disabled = Boolean(why);
page.state.textContent = why ? "Calls are not possible here" : "Ready";
trouble(why);
fill(page.mic, [["", "usual"]]);
