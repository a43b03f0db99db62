// Blobs of one request are decoded as they arrive: a slow one does not delay the others.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Recording } from "../model/recording/recording.ts";
import { BLOB } from "../model/recording/lane.ts";
import { sourceOf } from "./document.ts";
import { open } from "./opened.ts";
import { SAMPLES } from "./sample_documents.ts";

test("a chunk is readable before others of the same request have arrived", async () => {
  const built = SAMPLES.drawn!();
  const { manifest } = open(built);
  const lanes = manifest.lanes.filter((lane) => lane.kind !== "value");
  const [late, early] = lanes.map((lane) => lane.levels[0]!.chunks[0]![BLOB]);
  const source = sourceOf(built);
  const asked: (readonly number[])[] = [];
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const slow = (ids: readonly number[]) => {
    asked.push(ids);
    return source.blobs(ids).map((blob, i) => (ids[i] === late ? arrived.then(() => blob) : blob));
  };
  const { chunks } = new Recording(manifest, { ...source, blobs: slow });
  const waiting = chunks.loadSlices(late!);
  assert.notEqual(await chunks.loadSlices(early!), null);
  assert.equal(chunks.slices(late!), null);
  arrive();
  assert.notEqual(await waiting, null);
  assert.deepEqual(asked, [[late, early]]);
});
