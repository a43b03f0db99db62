// Invalid manifests are rejected with a one-line error; valid ones get defaults for missing members.

import assert from "node:assert/strict";
import test from "node:test";
import { readManifest } from "../model/recording/manifest.ts";
import { Recording } from "../model/recording/recording.ts";
import { buildDocument, ONE_KERNEL, sourceOf } from "./document.ts";

const built = buildDocument(ONE_KERNEL);

test("a manifest is read", async () => {
  const read = readManifest(JSON.stringify(built.manifest));
  assert.ok(read.ok);
  const recording = new Recording(read.value, sourceOf(built));
  assert.equal(read.value.time_origin_ns, 1795214539410308022n);
  assert.deepEqual(recording.childrenOf[0]?.map((track) => track.name), ["stream 7"]);
  assert.equal((await recording.row("kernel", 0))?.value("name"), "gemm");
  assert.equal((await recording.row("kernel", 0))?.value("absent"), null);
  assert.equal(await recording.row("kernel", 1), null);
  assert.equal((await recording.report()).trust[0]?.text, "built for a test");
});

test("a recording of counters only has no names", async () => {
  const read = readManifest(JSON.stringify({ ...built.manifest, names: null, pictures: null }));
  assert.ok(read.ok);
  const recording = new Recording(read.value, sourceOf(built));
  recording.chunks.onError = (problem) => assert.fail(problem);
  assert.deepEqual(await recording.names(), []);
  assert.equal(await recording.busyShares(), null);
});

test("errors of hostile manifests are one line", () => {
  const bad: [string, (m: Record<string, any>) => void][] = [
    ["format", (m) => (m.format = 2)],
    ["window", (m) => (m.window_ns = "1")],
    ["parent after child", (m) => (m.tracks[1].parent = 1)],
    ["lane of no track", (m) => (m.lanes[0].track = 9)],
    ["blob of no document", (m) => (m.lanes[0].levels[0].chunks[0][0] = 1e9)],
    ["row far down", (m) => (m.lanes[0].y = 1e9)],
  ];
  for (const [what, spoil] of bad) {
    const manifest = structuredClone(built.manifest);
    spoil(manifest);
    assert.equal(readManifest(JSON.stringify(manifest)).ok, false, what);
  }
  for (const text of ["", "null", "[]", "{", '"x"', "{}"]) assert.equal(readManifest(text).ok, false, text);
});
