// Runs the tests that need no browser: esbuild bundles each test/*.test.ts as a module, and node's test runner runs
// them. `node test.mjs NAME...` runs only the matching files.

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";
import { builtModules } from "./built_modules.mjs";

const here = new URL(".", import.meta.url).pathname;
const out = `${here}dist/test`;
const wanted = process.argv.slice(2);
const tests = readdirSync(`${here}test`)
  .filter((name) => name.endsWith(".test.ts"))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: tests.map((name) => `test/${name}`),
  bundle: true,
  outdir: out,
  outExtension: { ".js": ".mjs" },
  platform: "node",
  format: "esm",
  target: "node18",
  jsx: "automatic",
  jsxImportSource: "preact",
  plugins: [builtModules],
  sourcemap: "inline",
  logLevel: "warning",
  define: { "process.env.WEB_ROOT": JSON.stringify(here) },
});
const files = tests.map((name) => `${out}/${name.replace(/ts$/, "mjs")}`);
const done = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], { stdio: "inherit" });
process.exit(done.status ?? 1);
