"use strict";
// The page of a run: figures, plots, and its turns, drawn only as far as they are looked at.
const sounds = new Map([...document.querySelectorAll("script[data-turn]")].map((one) => [one.dataset.turn, one]));
const several = new Set(data.turns.map((turn) => turn.session)).size > 1;
const PAGE = 50; // Turns shown at a time.
const BIN = 50; // Milliseconds of a bar of the histogram.
const LATEST = 2000; // Milliseconds; later turns share the histogram's last bar.
const STAGES = { "turn end": "ending the turn", model: "language model", voice: "voice", way: "sending and playout", unexplained: "unexplained" };
const STAGE_KINDS = ["", "n", "n", "wide"]; // Classes of the columns of stages.
const LABELLED = { "turn commit": "turn ended", "first audible": "first sound" }; // Marks with a label in the waveform.
const MARKUP = "http://www.w3.org/2000/svg";

let shown = []; // The turns that pass the filters, in order.
let first = 0; // The first of them on this page of the list.

const svg = (tag, attributes) => made(tag, { of: MARKUP, ...attributes });
const name = (turn) => (several ? `${turn.session}, turn ${turn.number}` : `Turn ${turn.number}`);
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const took = (turn) => (turn.ms == null ? (turn.verdicts[0] === "not answered" ? "no answer" : "–") : `${turn.shown} ms`);
const styled = (group) => group.replace(" ", "-");
const signed = (ms) => `${ms < 0 ? "−" : "+"}${Math.abs(ms)} ms`;

function styleOf(turn) {
  if (["not answered", "cut off"].includes(turn.verdicts[0])) return "bad";
  if (turn.ms == null || turn.verdicts[0] === "wants no answer") return "";
  return turn.ms > data.limit ? "late" : "good";
}

// The headline.

function drawHead() {
  document.title = `${data.run}: turn latency`;
  page.run.textContent = data.run;
  page.about.textContent = [data.created, data.command].filter(Boolean).join(" · ");
  tell(page.doubts, data.doubts);
  tell(page.further, data.further);
  for (const { name, value, unit, note, state } of data.figures) {
    const figure = made("dd", { text: value, class: state ?? "" });
    if (unit) figure.append(made("small", { text: ` ${unit}` }));
    page.figures.append(made("div", {}, made("dt", { text: name }), figure, made("dd", { text: note ?? "", class: "note" })));
  }
  page.measured.className = "pairs";
  for (const [label, text] of data.measured) page.measured.append(made("dt", { text: label }), made("dd", { text }));
  for (const [group, text] of Object.entries(STAGES)) page.key.append(made("span", { class: `swatch ${styled(group)}`, text }));
  page.key.append(made("span", { text: "thin: at the same time" }));
  page.turns.classList.toggle("several", several);
  page.silent.hidden = sounds.size > 0;
  drawStages();
}

function drawStages() {
  page["stages-box"].hidden = !data.stages.length;
  const end = Math.max(...data.stages.map(([, , , p95]) => p95));
  const rows = data.stages.map(([label, group, p50, p95]) => {
    const bars = track([[0, p95, "work"], [0, p50, "path"]], group, 0, end);
    return made("tr", {}, made("th", { scope: "row", text: label }), cell(p50), cell(p95), made("td", { class: "wide" }, bars));
  });
  page.stages.append(table(["stage", "median ms", "95th percentile", "median, and behind it the 95th percentile"], rows, STAGE_KINDS));
}

const cell = (value) => made("td", { text: value ?? "", class: "n" });

// The plots.

function drawPlots() {
  const isTimed = (turn) => turn.ms != null && !["cut off", "wants no answer"].includes(turn.verdicts[0]);
  const usual = shown.filter((turn) => turn.counts);
  const count = usual.some(isTimed);
  const drawn = count ? usual : shown;
  const timed = drawn.filter(isTimed).map((turn) => turn.ms).sort((a, b) => a - b);
  const never = drawn.filter((turn) => turn.verdicts[0] === "not answered").length;
  const total = timed.length + never;
  const which = count ? "that count: warm, no barge-in, not cut off" : "shown here, none of which counts in the figures above";
  page.drawn.textContent = `${plural(total, "turn")} ${which}${never ? `; ${never} without an answer` : ""}.`;
  page.plots.hidden = !timed.length;
  if (!timed.length) return;
  const within = (limit) => timed.filter((ms) => ms <= limit).length;
  const told = `${within(data.natural)} of ${total} within ${data.natural} ms, ${within(data.limit)} within ${data.limit} ms.`;
  // A bar includes its upper edge, because a latency of exactly 800 ms is within 800 ms.
  const bins = Map.groupBy(timed, (ms) => Math.min(Math.max(Math.ceil(ms / BIN) - 1, 0), LATEST / BIN) * BIN);
  const bars = [...bins].map(([start, inside]) => ({ start, end: start + BIN, count: inside.length }));
  const end = Math.max(2 * data.limit, Math.ceil(Math.min(timed.at(-1), LATEST + BIN) / BIN) * BIN);
  const rules = [Plot.ruleX([data.natural, data.limit], { stroke: "currentColor", strokeDasharray: "3,3" })];
  const ticks = [data.natural, data.limit, ...[0, 1200, 1600, LATEST].filter((ms) => ms <= end)];
  const x = { domain: [0, end], label: null, ticks, tickFormat: (ms) => `${ms}${ms === LATEST ? "+" : ""} ms` };
  const color = ({ start }) => `var(--${start >= data.limit ? "late" : "good"})`;
  draw(page.histogram, {
    x, ariaLabel: "Histogram of turn latencies", ariaDescription: told,
    y: { label: "turns", ticks: Math.min(4, Math.max(...bars.map((bar) => bar.count))), tickFormat: "d" },
    marks: [Plot.rectY(bars, { x1: "start", x2: "end", y: "count", fill: color, insetLeft: 1 }), Plot.ruleY([0]), ...rules],
  });
  const steps = [{ ms: 0, share: 0 }, ...timed.map((ms, index) => ({ ms, share: (index + 1) / total }))];
  steps.push({ ms: Math.max(end, timed.at(-1)), share: timed.length / total });
  draw(page.ecdf, {
    x, ariaLabel: "Share of turns by latency", ariaDescription: told,
    y: { domain: [0, 1], label: "share of turns", ticks: 5, tickFormat: (share) => `${Math.round(share * 100)} %`, grid: true },
    marks: [Plot.line(steps, { x: "ms", y: "share", curve: "step-after", stroke: "var(--good)", strokeWidth: 2, clip: true }), ...rules],
  });
}

// The list.

const fields = ["text", "verdict", "session", "tier", "cold", "order"];
const VERDICTS = ["not answered", "cut off", "over 800 ms", "within 800 ms", "within 400 ms", "wrong answer"]; // In the order of the filter; others follow.

function badness(turn) {
  switch (turn.verdicts[0]) {
    case "not answered":
      return Number.MAX_VALUE;
    case "cut off":
      return 1e12;
    case "wants no answer":
      return -1;
    default:
      return turn.ms ?? -1;
  }
}

function fillFilters() {
  const options = (select, every, values) => {
    const counts = Map.groupBy(values, (value) => value);
    select.append(made("option", { value: "", text: every }));
    for (const [value, those] of counts) select.append(made("option", { value, text: `${value} (${those.length})` }));
    select.parentElement.hidden = counts.size < 2;
  };
  const given = data.turns.flatMap((turn) => turn.verdicts);
  const known = VERDICTS.flatMap((verdict) => given.filter((one) => one === verdict));
  options(page.verdict, "all", [...known, ...given.filter((one) => !VERDICTS.includes(one))]);
  options(page.session, "all", data.turns.map((turn) => turn.session));
  options(page.tier, "any", data.turns.map((turn) => turn.tier).filter(Boolean));
  options(page.cold, "all", data.turns.map((turn) => (turn.cold ? "cold" : "warm")));
  for (const turn of data.turns) {
    turn.tier ??= "";
    turn.searched = [name(turn), turn.heard, turn.said, turn.remarks, turn.why, ...(turn.words ?? []).flat()].join("\n").toLowerCase();
  }
}

let waiting = null; // The timer of the next filtering.
function soon(delay) {
  clearTimeout(waiting);
  waiting = setTimeout(filter, delay);
}

function filter() {
  clearTimeout(waiting);
  waiting = null;
  const [text, verdict, session, tier, cold, order] = fields.map((id) => page[id].value);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  shown = data.turns.filter(
    (turn) =>
      (!verdict || turn.verdicts.includes(verdict)) && (!session || turn.session === session) && (!tier || turn.tier === tier) &&
      (!cold || Boolean(turn.cold) === (cold === "cold")) && words.every((word) => turn.searched.includes(word)),
  );
  if (order === "worst") shown.sort((a, b) => badness(b) - badness(a));
  first = 0;
  drawPlots();
  drawList();
}

// Bars of all rows have one axis; what is longer leaves it on the right.
const AXIS = Math.min(LATEST, Math.max(1000, ...data.turns.map((turn) => (turn.ms ?? 0) * 1.05)));

function drawList() {
  const there = shown.slice(first, first + PAGE);
  page.list.replaceChildren(...there.map((turn) => made("li", {}, rowOf(turn))));
  const all = shown.length === data.turns.length;
  page.found.textContent = all ? plural(shown.length, "turn") : `${shown.length.toLocaleString("en")} of ${plural(data.turns.length, "turn")}`;
  page.pages.hidden = shown.length <= PAGE;
  page.where.textContent = `${first + 1} to ${first + there.length} of ${shown.length.toLocaleString("en")}`;
  page.before.disabled = !first;
  page.after.disabled = first + PAGE >= shown.length;
}

function rowOf(turn) {
  const heard = turn.heard ? quoted(turn.heard) : made("span", { class: "who", text: "nothing heard" });
  const words = made("span", { class: "words" }, heard);
  if (turn.said) words.append(made("span", { class: "who", text: " → " }), quoted(turn.said));
  const summary = made("summary", {},
    made("span", { class: "name", text: name(turn) + (turn.cold ? ", cold" : "") }),
    made("span", { class: `ms ${styleOf(turn)}`, text: took(turn) }),
    made("span", { class: "row-bar", "aria-hidden": "true" }, overview(turn)),
    words);
  if (turn.remarks) summary.append(made("span", { class: "remarks", text: turn.remarks }));
  const box = made("details", { id: turn.id }, summary);
  box.addEventListener("toggle", () => {
    if (box.open && !box.querySelector(".detail")) box.append(detailOf(turn));
    if (box.open) history.replaceState(null, "", `#${turn.id}`);
  });
  return box;
}

// The stages of a turn in one bar: above what the caller waited for, below what went on at the same time.
function overview(turn) {
  const bars = made("span", { class: "track" });
  for (const { group, bars: found } of (turn.rows ?? []).filter((row) => STAGES[row.group])) {
    for (const [start, end, kind] of found) if (end > 0) place(bars, kind, Math.max(0, start), end, 0, AXIS, group);
  }
  rule(bars, 0, AXIS);
  return bars;
}

function track(bars, group, start, end) {
  const element = made("div", { class: "track", "aria-hidden": "true" });
  for (const [from, to, kind] of bars) place(element, kind, from, to, start, end, group);
  return element;
}

function place(element, kind, from, to, start, end, group) {
  const piece = made("i", { class: `${kind} ${styled(group)}` });
  piece.style.left = `${((from - start) / (end - start)) * 100}%`;
  if (to > from) piece.style.width = `${((to - from) / (end - start)) * 100}%`;
  element.append(piece);
}

function rule(element, start, end) {
  for (const at of [0, data.natural, data.limit]) if (at > start && at < end) place(element, "rule", at, at, start, end, "");
}

function drawTicks() {
  const seen = [0, data.natural, data.limit, 1200, 1600].filter((ms) => ms < AXIS * 0.95);
  page.ticks.replaceChildren(...seen.map((ms) => {
    const tick = made("i", { text: ms ? String(ms) : "0 ms" });
    tick.style.left = `${(ms / AXIS) * 100}%`;
    return tick;
  }));
}

// A turn that is opened.

function detailOf(turn) {
  const parts = [made("p", { class: "why", text: turn.why })];
  const wave = turn.sound && waveOf(turn);
  if (wave) parts.push(...wave);
  else parts.push(made("p", { class: "dim", text: "There is no recording of this turn." }));
  const words = made("dl", { class: "pairs" });
  for (const [label, text] of turn.words ?? []) words.append(made("dt", { text: label }), made("dd", {}, quoted(text)));
  parts.push(made("h3", { text: "Words" }), words, made("h3", { text: "Stages" }));
  if (turn.rows) parts.push(...waterfallOf(turn));
  else parts.push(made("p", { class: "dim", text: "The turn has no speech, and so no end of speech to count from." }));
  if (turn.requests) parts.push(...requestsOf(turn));
  const marks = Object.entries(turn.marks ?? {}).sort(([, a], [, b]) => a - b);
  if (marks.length) {
    const list = made("dl", { class: "pairs" });
    for (const [mark, ms] of marks) list.append(made("dt", { text: mark }), made("dd", { text: signed(ms) }));
    parts.push(made("details", {}, made("summary", { text: "All instants, from the end of speech" }), list));
  }
  parts.push(made("p", {}, made("a", { href: `#${turn.id}`, text: "Link to this turn" })));
  return made("div", { class: "detail" }, ...parts);
}

function waterfallOf(turn) {
  const kinds = new Set();
  const rows = turn.rows.map((row) => {
    const bars = track(row.bars, row.group, turn.start, turn.end);
    rule(bars, turn.start, turn.end);
    for (const [, , kind] of row.bars) kinds.add(kind);
    const note = row.note ? [made("span", { class: "note" }, quoted(row.note))] : [];
    return made("tr", {}, made("th", { scope: "row", text: row.label }), cell(row.took), cell(row.waited), made("td", { class: "wide" }, bars, ...note));
  });
  const key = made("p", { class: "key dim" });
  for (const kind of Object.keys(data.kinds).filter((kind) => kinds.has(kind))) {
    const sample = track([[0, 1, kind]], kind === "speech" ? "user" : kind === "stall" ? kind : "request", 0, 1);
    sample.className = "track sample";
    key.append(made("span", {}, sample, ` ${data.kinds[kind]}`));
  }
  key.append(made("span", { text: `lines: end of speech, ${data.natural} and ${data.limit} ms` }));
  return [table(["stage", "took ms", "wait ms", `from ${turn.start} to ${turn.end} ms after the end of speech`], rows, STAGE_KINDS), key];
}

function requestsOf(turn) {
  const [headings, ...rows] = turn.requests;
  const text = new Set([0, headings.length - 1]);
  const kinds = headings.map((_, index) => (text.has(index) ? "" : "n"));
  const scroll = scrolling("Requests to language models", headings, rows, kinds);
  const parts = [made("h3", { text: "Requests to language models" }), made("p", { text: turn.policy ? `Policy: ${turn.policy}` : "" }), scroll, made("p", { class: "dim", text: turn.units })];
  if (turn.cost) parts.push(made("p", { text: `Cost: ${turn.cost}` }));
  return parts;
}

const bytes = (coded) => Uint8Array.from(atob(coded), (char) => char.charCodeAt(0));

function waveOf(turn) {
  const { start, end } = turn.sound;
  const sides = ["user", "bot"].map((side) => [side, bytes(turn.sound[side])]);
  const columns = sides[0][1].length;
  const drawing = svg("svg", { viewBox: `0 0 ${columns} 100`, preserveAspectRatio: "none", role: "img", "aria-label": "Loudness of the caller, above, and the agent, below" });
  sides.forEach(([side, peaks], lane) => {
    // The root makes soft speech visible.
    const heights = [...peaks].map((peak) => 0.5 + Math.sqrt(peak / 255) * 24);
    const top = heights.map((height, x) => `L${x} ${25 + lane * 50 - height}`);
    const bottom = heights.map((height, x) => `L${x} ${25 + lane * 50 + height}`).reverse();
    drawing.append(svg("path", { class: side, d: `M0 ${25 + lane * 50}${top.join("")}${bottom.join("")}Z` }));
  });
  const box = made("div", { class: "wave" }, drawing);
  const at = (ms) => (ms - start) / (end - start);
  const labelled = [["end of speech", 0]];
  for (const [mark, ms] of Object.entries(turn.marks ?? {})) {
    // The client's own report of the first sound is some milliseconds from the measured one, which counts.
    const measured = mark === "first audible" ? turn.ms == null ? ms : Number(turn.shown) : ms;
    if (LABELLED[mark]) labelled.push([`${LABELLED[mark]} ${signed(measured)}`, measured]);
    else drawing.append(svg("line", { class: "tick", x1: at(ms) * columns, x2: at(ms) * columns, y1: 46, y2: 54 }));
  }
  labelled.forEach(([text, ms], index) => {
    const label = made("span", { text, class: at(ms) > 0.6 ? "left" : "" });
    label.style.left = `${at(ms) * 100}%`;
    label.style.top = `${index * 1.3}rem`;
    box.append(label);
    drawing.append(svg("line", { x1: at(ms) * columns, x2: at(ms) * columns, y1: 0, y2: 100 }));
  });
  const stored = sounds.get(turn.id);
  return stored ? [box, playerOf(turn, stored, box)] : [box];
}

function playerOf(turn, stored, box) {
  const player = made("audio", { controls: "", "aria-label": `${name(turn)}: the caller left, the agent right` });
  player.src = URL.createObjectURL(new Blob([bytes(stored.textContent)], { type: "audio/ogg" }));
  const cursor = made("div", { class: "cursor" });
  const length = (turn.sound.end - turn.sound.start) / 1000;
  const follow = () => {
    cursor.style.left = `${(player.currentTime / length) * 100}%`;
    if (!player.paused) requestAnimationFrame(follow);
  };
  for (const event of ["play", "seeked", "pause"]) player.addEventListener(event, follow);
  box.addEventListener("click", (click) => {
    const place = box.getBoundingClientRect();
    player.currentTime = ((click.clientX - place.left) / place.width) * length;
    void player.play();
  });
  box.append(cursor);
  return player;
}

// Links to a turn.

function follow() {
  const id = location.hash.slice(1);
  if (!id.startsWith("turn-")) return;
  const turn = data.turns.find((one) => one.id === id);
  if (!turn) {
    page.found.textContent = "The link names a turn that is not in this page.";
    return;
  }
  if (waiting) filter();
  if (!shown.includes(turn)) {
    page.filters.reset();
    filter();
  }
  first = Math.floor(shown.indexOf(turn) / PAGE) * PAGE;
  if (!document.getElementById(id)) drawList();
  const box = document.getElementById(id);
  box.open = true;
  box.scrollIntoView();
  box.querySelector("summary").focus();
}

function turnPage(by) {
  first += by;
  drawList();
  page.turns.scrollIntoView();
  page.list.querySelector("summary")?.focus();
}

drawHead();
drawTicks();
fillFilters();
filter();
follow();
page.filters.addEventListener("input", () => soon(150));
page.filters.addEventListener("submit", (event) => event.preventDefault());
page.filters.addEventListener("reset", () => soon(0)); // The fields are not empty yet.
page.before.addEventListener("click", () => turnPage(-PAGE));
page.after.addEventListener("click", () => turnPage(PAGE));
addEventListener("hashchange", follow);
redrawing(drawPlots);
