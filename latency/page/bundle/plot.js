// The parts of Observable Plot that the page draws with.
export { axisX, axisY, gridY, line, plot, rectY, ruleX, ruleY, text } from "@observablehq/plot";
