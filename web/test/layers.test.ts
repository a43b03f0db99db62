// Arrows point down only: read <- model <- layout <- draw <- view. draw takes display lists and nothing else.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

const MAY_USE: Record<string, string[]> = {
  read: ["read"],
  model: ["model", "read"],
  layout: ["layout", "model"],
  draw: ["draw", "layout"],
  view: ["view", "draw", "layout", "model", "read"],
};

test("imports keep to the layers", () => {
  for (const [layer, allowed] of Object.entries(MAY_USE))
    for (const name of readdirSync(`${process.env.WEB_ROOT}${layer}`)) {
      const text = readFileSync(`${process.env.WEB_ROOT}${layer}/${name}`, "utf8");
      for (const [, target] of text.matchAll(/from "(\.[^"]+)"/g)) {
        const folder = target!.startsWith("./") ? layer : target!.split("/")[1]!;
        assert.ok(allowed.includes(folder), `${layer}/${name} may not import ${target}`);
      }
    }
});

test("names reach the page as text only", () => {
  for (const layer of Object.keys(MAY_USE))
    for (const name of readdirSync(`${process.env.WEB_ROOT}${layer}`)) {
      const text = readFileSync(`${process.env.WEB_ROOT}${layer}/${name}`, "utf8");
      assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/, name);
    }
});
