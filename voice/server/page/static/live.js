// The page of calls: reads which are under way, again and again while it is seen.
import { cellsOf, headline } from "./live_calls.js";

const EVERY = 1; // Seconds.
const WITHIN = 5; // Seconds that the server may take.
const TOKEN_NEEDED = 401;
const page = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id, element]));
const rows = new Map(); // By the call's number.
let token = "";
let timer = null;

async function refresh() {
  clearTimeout(timer);
  const again = await read();
  if (again && !document.hidden) timer = setTimeout(refresh, EVERY * 1000);
}

// Returns whether to read again.
async function read() {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  let response, said;
  try {
    response = await fetch("/live/calls", { headers, signal: AbortSignal.timeout(WITHIN * 1000) });
    said = await response.json();
  } catch {
    page.state.textContent = "The server does not answer; trying again…";
    page.table.hidden = true;
    return true;
  }
  page.admission.hidden = response.status !== TOKEN_NEEDED;
  page.trouble.hidden = response.ok;
  page.trouble.textContent = response.ok ? "" : said.error;
  if (response.ok) show(said.calls);
  else {
    page.state.textContent = "Not shown";
    page.table.hidden = true;
    if (response.status === TOKEN_NEEDED) page.token.focus();
  }
  return response.ok;
}

function show(calls) {
  page.state.textContent = headline(calls);
  page.table.hidden = !calls.length;
  const numbers = new Set(calls.map((call) => call.number));
  for (const [number, row] of rows) {
    if (numbers.has(number)) continue;
    row.remove();
    rows.delete(number);
  }
  for (const call of calls) {
    if (!rows.has(call.number)) rows.set(call.number, page.calls.appendChild(document.createElement("tr")));
    draw(rows.get(call.number), cellsOf(call));
  }
}

function draw(row, cells) {
  cells.forEach(([heading, text, kind], index) => {
    const cell = row.cells[index] ?? row.insertCell();
    cell.dataset.heading = heading;
    if (cell.textContent !== text) cell.textContent = text;
    cell.className = kind;
  });
}

page.admission.onsubmit = (event) => {
  event.preventDefault();
  token = page.token.value;
  void refresh();
};
document.addEventListener("visibilitychange", () => void (document.hidden || refresh()));
void refresh();
