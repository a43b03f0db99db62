// Writes a page with a generated document: `node web/test/make_page.mjs NAME OUT [ARGUMENT]`; names are listed in
// test/sample_documents.ts. Requires `node build.mjs` first.

import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const here = new URL("..", import.meta.url).pathname;
const [name, out, argument] = process.argv.slice(2);
const bundled = await build({
  absWorkingDir: here,
  entryPoints: ["test/sample_documents.ts"],
  bundle: true,
  write: false,
  platform: "node",
  format: "esm",
  target: "node18",
});
const { SAMPLES, pageWith } = await import(`data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].text).toString("base64")}`);
if (!SAMPLES[name] || !out) {
  console.error(`usage: make_page.mjs ${Object.keys(SAMPLES).join("|")} OUT`);
  process.exit(2);
}
writeFileSync(out, pageWith(readFileSync(`${here}dist/page.html`, "utf8"), SAMPLES[name](argument)));
