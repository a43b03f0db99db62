// No module imports one that, by any way, imports it, types included.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

const WEB = process.env.WEB_ROOT!;
const ROOMS = ["read", "model", "layout", "draw", "view"];
const files = ROOMS.flatMap((room) =>
  readdirSync(join(WEB, room), { recursive: true, encoding: "utf8" }).map((file) => join(WEB, room, file)));
const sources = files.filter((file) => /\.tsx?$/.test(file));
const importsOf = (file: string): string[] =>
  [...readFileSync(file, "utf8").matchAll(/from "(\.[^"]+)"/g)].map(([, path]) => join(file, "..", path!));

test("imports have no cycle", () => {
  const imports = new Map(sources.map((file) => [file, importsOf(file)]));
  const done = new Set<string>();
  const visit = (file: string, above: readonly string[]): void => {
    assert.ok(!above.includes(file), [...above, file].join(" -> "));
    if (done.has(file)) return;
    for (const next of imports.get(file) ?? []) visit(next, [...above, file]);
    done.add(file);
  };
  assert.ok(sources.length > 100);
  for (const file of sources) visit(file, []);
});
