// Writes a page with a generated document: `node web/test/make_page.mjs NAME OUT [ARGUMENT]`; names are listed in
// test/made.ts. Requires `node build.mjs` first.

import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const here = new URL("..", import.meta.url).pathname;
const [name, out, argument] = process.argv.slice(2);
const done = await build({
  absWorkingDir: here,
  entryPoints: ["test/made.ts"],
  bundle: true,
  write: false,
  platform: "node",
  format: "esm",
  target: "node18",
});
const { MADE, pageWith } = await import(`data:text/javascript;base64,${Buffer.from(done.outputFiles[0].text).toString("base64")}`);
if (!MADE[name] || !out) {
  console.error(`usage: make_page.mjs ${Object.keys(MADE).join("|")} OUT`);
  process.exit(2);
}
writeFileSync(out, pageWith(readFileSync(`${here}dist/page.html`, "utf8"), MADE[name](argument)));
