// Builds the viewer: one file (dist/page.html, or the path given as argument) with inline style and script. The program
// inserts a recording at the line <!--gpu-profile:data--> (the view format) or serves the page as it is. The content
// security policy lists the hashes of exactly this style and this script, so no other code on the page can run.
//
// The same script is also the worker: the page starts it again from a Blob (read/single_file.ts).

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { builtModules } from "./built_modules.mjs";

const here = new URL(".", import.meta.url).pathname;
const LIMIT = 400 * 1024; // of the whole page, compressed
const DATA = "<!--gpu-profile:data-->";

async function bundle(entry) {
  const done = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome109", "firefox115", "safari16.4"],
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [builtModules],
    charset: "utf8",
    legalComments: "inline",
    logLevel: "warning",
  });
  return done.outputFiles[0].text.trimEnd();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

function policy(style, script) {
  return [
    "default-src 'none'",
    `script-src ${hash(script)} blob:`,
    "worker-src blob:",
    `style-src ${hash(style)}`,
    "img-src data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

const style = (await Promise.all(["style.css", "pages.css", "comparison.css", "kernels.css", "job.css", "dialogs.css", "range.css", "preparing.css", "sql.css", "tables.css", "touch.css"].map(bundle))).join("");
const script = await bundle("main.ts");
for (const [name, text] of [["style", style], ["script", script]])
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`the ${name} would end its own element`);

const parts = { csp: policy(style, script), style, script };
const page = readFileSync(`${here}page.html`, "utf8").replace(/@(csp|style|script)@/g, (_, part) => parts[part]);
if (page.split(DATA).length !== 2) throw new Error(`page.html must contain ${DATA} exactly once`);
const compressed = gzipSync(page, { level: 9 }).length;
if (compressed > LIMIT) throw new Error(`the page is too large: ${compressed} bytes compressed; the limit is ${LIMIT}`);
const out = process.argv[2] ?? `${here}dist/page.html`;
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, page);
console.log(`${out}: ${page.length} bytes, ${compressed} compressed`);
