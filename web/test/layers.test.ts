// Arrows point down only: read <- model <- layout <- draw <- view. draw takes display lists and nothing else.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, normalize } from "node:path";
import test from "node:test";

const MAY_USE: Record<string, string[]> = {
  read: ["read"],
  model: ["model", "read"],
  layout: ["layout", "model"],
  draw: ["draw", "layout"],
  view: ["view", "draw", "layout", "model", "read"],
};

/** Every file of a layer, recursively, with its path from web/. */
function filesOf(folder: string): string[] {
  return readdirSync(`${process.env.WEB_ROOT}${folder}`).flatMap((name) => {
    const path = `${folder}/${name}`;
    return statSync(`${process.env.WEB_ROOT}${path}`).isDirectory() ? filesOf(path) : [path];
  });
}

const textOf = (path: string): string => readFileSync(`${process.env.WEB_ROOT}${path}`, "utf8");

test("imports follow the layers", () => {
  for (const [layer, allowed] of Object.entries(MAY_USE))
    for (const path of filesOf(layer))
      for (const [, target] of textOf(path).matchAll(/from "(\.[^"]+)"/g)) {
        const folder = normalize(`${dirname(path)}/${target}`).split("/")[0]!;
        assert.ok(allowed.includes(folder), `${path} may not import ${target}`);
      }
});

test("names reach the page as text only", () => {
  const markup = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/;
  for (const layer of Object.keys(MAY_USE))
    for (const path of filesOf(layer)) assert.doesNotMatch(textOf(path), markup, path);
});
