// Names of files in copied commands: a shell reads each as one word, the name itself.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { shellFile } from "../layout/shell_words.ts";

const NAMES = ["a.json", "a b.json", "it's", "$(touch x)", "`id`", "a;b", "-o", "=ls", "a\nb", "a\u001b[31m", "\\", "'", "é ü.json", "a\u0085b'\\", "*", "~", "#x", "!x"];

test("a shell takes each name as one word", () => {
  for (const name of NAMES) {
    const said = spawnSync("bash", ["-c", `printf '%s\\0' ${shellFile(name)}`], { encoding: "utf8" }).stdout;
    assert.equal(said, `${name.startsWith("-") ? "./" : ""}${name}\0`);
  }
});

test("a name without special characters stays as it is", () => {
  assert.equal(shellFile("rank00001.json.gz"), "rank00001.json.gz");
  assert.match(shellFile("a\nb"), /^[^\n]*$/);
});
