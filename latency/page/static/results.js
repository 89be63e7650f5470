"use strict";
// The page of results: a plot and the tables of each section.
const DASHES = ["none", "6,3", "2,3", "8,3,2,3", "12,4", "4,2,1,2", "1,2", "14,3,4,3"];
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "wye", "cross"];
const COLOURS = 8;

function sectionOf({ title, tables, plot, lines }) {
  const section = made("section", {}, made("h2", { text: title }), ...lines.map((text) => made("p", { text })));
  if (plot?.series.some(({ points }) => points.length)) {
    const box = made("div", { class: "drawing" });
    section.append(made("figure", {}, made("figcaption", { text: plot.title }), keyOf(plot), box));
    drawings.push(() => drawPlot(box, plot));
  }
  for (const { title: name, headings, rows, text } of tables) {
    const kinds = headings.map((heading, index) => (index === 0 || text.includes(heading) ? "" : "n"));
    if (name) section.append(made("h3", { text: name }));
    section.append(scrolling(name || `${title}: ${headings.join(", ")}`, headings, rows, kinds));
  }
  return section;
}

function keyOf({ kind, series }) {
  const key = made("p", { class: "key dim" });
  series.forEach(({ name }, index) => {
    const marks = [];
    if (kind !== "dots") marks.push(Plot.line([[0, 0.5], [1, 0.5]], { stroke: colour(index), strokeWidth: 2.5, strokeDasharray: DASHES[index % COLOURS] }));
    if (kind !== "steps") marks.push(Plot.dot([[0.5, 0.5]], symbolOf(index, 4)));
    const whole = { axis: null, domain: [0, 1] };
    const sample = Plot.plot({ width: 28, height: 14, margin: 0, className: "sample-plot", x: whole, y: whole, marks });
    for (const part of sample.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
    sample.setAttribute("aria-hidden", "true");
    key.append(made("span", {}, sample, " ", quoted(name)));
  });
  return key;
}

const colour = (index) => `var(--series-${index % COLOURS})`;
const symbolOf = (index, r) => ({ symbol: SYMBOLS[index % SYMBOLS.length], fill: colour(index), r });

function drawPlot(box, { title, x, y, kind, series, limits, limits_on: axis }) {
  const rule = axis === "x" ? Plot.ruleX : Plot.ruleY;
  const marks = [rule(limits, { stroke: "currentColor", strokeDasharray: "3,3" })];
  const place = axis === "x" ? { x: (limit) => limit, frameAnchor: "top", dy: -8 } : { y: (limit) => limit, frameAnchor: "right", textAnchor: "end", dy: -7 };
  marks.push(Plot.text(limits, { ...place, text: (limit) => `${limit} ms`, fill: "currentColor" }));
  // The names of points in the right half stand to their left, so that they end in the drawing.
  const across = series.flatMap(({ points }) => points.map(([x]) => x));
  const middle = Math.sqrt(Math.min(...across) * Math.max(...across));
  series.forEach(({ points, labels }, index) => {
    const channels = { x: ([x]) => x, y: ([, y]) => y };
    if (kind === "dots") {
      marks.push(Plot.dot(points, { ...channels, ...symbolOf(index, 5) }));
      for (const textAnchor of ["start", "end"]) {
        const text = ([x], at) => ((x > middle) === (textAnchor === "end") ? labels[at] : "");
        marks.push(Plot.text(points, { ...channels, text, textAnchor, dy: -11, fill: "currentColor" }));
      }
    } else {
      const curve = kind === "steps" ? "step-after" : "linear";
      marks.push(Plot.line(points, { ...channels, curve, stroke: colour(index), strokeWidth: 2.5, strokeDasharray: DASHES[index % COLOURS] }));
      if (kind === "line") marks.push(Plot.dot(points, { ...channels, ...symbolOf(index, 4) }));
    }
  });
  const told = `${series.map(({ name }) => name).join(", ")}; the figures are in the tables below.`;
  const scale = (label, on) => ({ label, grid: true, nice: true, ...(kind === "steps" || on === axis ? { zero: true } : {}) });
  const isCount = series.every(({ points }) => points.every(([x]) => Number.isInteger(x)));
  const counted = isCount ? { tickFormat: (x) => (Number.isInteger(x) ? String(x) : "") } : {};
  // Costs differ by orders of magnitude.
  const isLog = kind === "dots" && series.every(({ points }) => points.every(([x]) => x > 0));
  draw(box, { height: 320, marginLeft: 56, marginTop: 34, marginBottom: 44, ariaLabel: title, ariaDescription: told, x: { ...scale(x, "x"), ...counted, ...(isLog ? { type: "log", tickFormat: "~g", ticks: 4, inset: 24 } : {}) }, y: scale(y, "y"), marks });
}

const drawings = [];
document.title = data.title;
page.title.textContent = data.title;
tell(page.head, data.head);
page.sections.append(...data.sections.map(sectionOf));
page.notes.append(...data.notes.map((text) => made("li", { text })));
for (const drawn of drawings) drawn();
redrawing(() => drawings.forEach((drawn) => drawn()));
