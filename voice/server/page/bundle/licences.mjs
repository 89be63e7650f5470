// Prints name, version and licence text of every package of which esbuild put something into the bundle.
import { existsSync, readFileSync, readdirSync } from "node:fs";

const [[file, bundle]] = Object.entries(JSON.parse(readFileSync(process.argv[2])).outputs);
const names = new Set();
for (const path of Object.keys(bundle.inputs)) {
  const found = path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (found) names.add(found[1]);
}
console.log(`${file.split("/").at(-1)} is bundled from these packages.\n`);
for (const name of [...names].sort()) {
  const folder = `node_modules/${name}`;
  const about = JSON.parse(readFileSync(`${folder}/package.json`));
  const licence = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  console.log("-".repeat(80));
  console.log(`${name} ${about.version} (${about.license})\n`);
  console.log(licence && existsSync(`${folder}/${licence}`) ? readFileSync(`${folder}/${licence}`, "utf8").trim() : "It has no licence file.");
}
