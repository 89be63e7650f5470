"use strict";
// What the page of a run and that of results have in common.
// Texts come from callers and models, so they are set as text and never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const page = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id, element]));

function made(tag, { text, of, ...attributes } = {}, ...children) {
  const element = of ? document.createElementNS(of, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  element.append(...children);
  return element;
}

// A text of the run: its direction and its control characters do not reach its surroundings.
const quoted = (text) => made("bdi", { text });

function tell(list, lines) {
  list.replaceChildren(...lines.map(([text, style]) => made("li", { text, class: style })));
  list.hidden = !lines.length;
}

function table(headings, rows, kinds) {
  const head = headings.map((text, index) => made("th", { scope: "col", text, class: kinds[index] ?? "" }));
  return made("table", {}, made("thead", {}, made("tr", {}, ...head)), made("tbody", {}, ...rows));
}

// A table of texts, which scrolls where it is wider than the window.
function scrolling(name, headings, rows, kinds) {
  const cells = rows.map((row) => made("tr", {}, ...row.map((value, index) => made("td", { class: kinds[index] }, quoted(value)))));
  return made("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, table(headings, cells, kinds));
}

function draw(box, options) {
  const drawing = Plot.plot({ width: Math.max(260, box.clientWidth), height: 220, marginLeft: 44, marginRight: 28, className: "plot", ...options });
  // A drawing with one name has no named parts.
  for (const part of drawing.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  drawing.setAttribute("role", "img");
  box.replaceChildren(drawing);
}

function redrawing(drawn) {
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) drawn();
    width = innerWidth;
  });
}
