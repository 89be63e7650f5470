// The parts of Observable Plot that the page draws with.
export { dot, line, plot, rectY, ruleX, ruleY, text } from "@observablehq/plot";
