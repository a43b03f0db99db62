// Segments and frames: the page's decoder on valid, truncated and oversized input.

import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { splitFrames } from "../read/frames.ts";
import { decodeSegment, inflate } from "../read/segment.ts";
import { frame } from "./encode.ts";

const blobs = [Uint8Array.from([1, 2, 3]), new Uint8Array(0), new Uint8Array(70000).fill(7)];

test("a segment round-trips its blobs", async () => {
  const text = gzipSync(frame(blobs)).toString("base64");
  const read = splitFrames(await decodeSegment(text), 3);
  assert.ok(read.ok);
  assert.deepEqual(read.value.map((blob) => blob.length), [3, 0, 70000]);
  assert.deepEqual([...read.value[0]!], [1, 2, 3]);
});

test("missing and overlong frames are errors", () => {
  const bytes = frame(blobs);
  for (const length of [0, 2, 5, 100, bytes.length - 1])
    assert.equal(splitFrames(bytes.subarray(0, length), 3).ok, false);
  assert.equal(splitFrames(bytes, 4).ok, false);
});

test("a decompression bomb is rejected before it fills memory", async () => {
  const bomb = gzipSync(new Uint8Array(32 << 20));
  assert.ok(bomb.length < 64 << 10);
  await assert.rejects(inflate(bomb, 1 << 20), /1048576 bytes/);
  await assert.rejects(decodeSegment("not base64 !"));
  await assert.rejects(decodeSegment("AAAA"));
});
