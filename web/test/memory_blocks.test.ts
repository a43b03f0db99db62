// Blocks of memory: who holds what at a time, and the picture, by invented histories and counting.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blockPicture, layerAt, outline, OLDER } from "../layout/block_picture.ts";
import { heldAt, holdersAt, peakOf, readBlocks, type DeviceBlocks } from "../model/recording/memory_blocks.ts";
import type { Recording } from "../model/recording/recording.ts";
import type { Cell, ReportTable } from "../model/recording/report.ts";
import { wholeRows } from "../model/table/table_rows.ts";

const COLUMNS = ["device", "start_ns", "dur_ns", "bytes", "held_bytes", "owner", "category", "stack"];

function traced(rows: Cell[][]): Promise<DeviceBlocks[]> {
  const columns = COLUMNS.map((name) => ({ name, type: "integer", unit: null, doc: "" }));
  const notes: string[] = [];
  const table: ReportTable =
    { name: "memory_trace", handle_prefix: null, columns, row_count: rows.length, rows, notes };
  return readBlocks({ rowsOf: () => wholeRows(table) } as unknown as Recording, table);
}

/** A history with `older` bytes from before it; every allocation has one of four owners. */
function history(seed: number, events: number, older: number): { rows: Cell[][]; end: number } {
  let state = seed;
  const random = (below: number) => (state = (state * 48271) % 2147483647) % below;
  const rows: Cell[][] = [];
  const open: number[] = [];
  let [time, held] = [0, older];
  for (let i = 0; i < events; i++) {
    time += 1 + random(5);
    if (open.length > 0 && random(5) < 2) {
      const made = rows[open.splice(random(open.length), 1)[0]!]!;
      made[2] = time - (made[1] as number);
      held -= made[3] as number;
      rows.push([0, time, null, -(made[3] as number), held, null, null, null]);
    } else {
      const bytes = 1 + random(1000);
      held += bytes;
      open.push(rows.length);
      rows.push([0, time, null, bytes, held, `owner ${random(4)}`, null, null]);
    }
  }
  return { rows, end: time + 1 };
}

test("what all hold at any time is what is held then, and nobody holds less than nothing", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { rows, end } = history(seed, 200, seed % 3 === 0 ? 5000 : 0);
    const [memory] = await traced(rows);
    for (let time = 0; time <= end; time += 7) {
      const holders = holdersAt(memory!, time);
      const sum = holders.reduce((all, { bytes }) => all + bytes, 0);
      assert.equal(sum, heldAt(memory!, time));
      assert.ok(holders.every(({ bytes }, i) => bytes > 0 && (i === 0 || holders[i - 1]!.bytes >= bytes)));
    }
  }
});

test("columns of the picture are as high as what is held, layers lie on each other, the peak is there", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { rows, end } = history(seed, 200, 3000 * (seed % 2));
    const memory = (await traced(rows))[0]!;
    const picture = blockPicture(memory, { from: 0, to: end }, 40, 15);
    const height = picture.moments.map(() => 0);
    for (const { first, low, bytes } of picture.layers)
      low.forEach((below, i) => {
        assert.equal(below, height[first + i]);
        height[first + i]! += bytes[i]!;
      });
    assert.deepEqual(height, picture.held);
    assert.equal(Math.max(...picture.held), peakOf(memory).bytes);
    assert.ok(picture.shown <= 15);
  }
});

test("memory without a known allocation is the lowest layer, and a point finds its layer", async () => {
  const memory = (await traced([
    [0, 10, 20, 100, 150, "a", null, "main;a"],
    [0, 30, null, -100, 50, null, null, null],
  ]))[0]!;
  const picture = blockPicture(memory, { from: 0, to: 40 }, 4, 10);
  assert.deepEqual(picture.moments, [0, 10, 20, 30]);
  assert.deepEqual(picture.held, [0, 150, 150, 50]);
  assert.deepEqual(picture.layers.map(({ name, first, bytes }) => [name, first, bytes]), [
    [OLDER, 0, [0, 50, 50, 50]], ["", 1, [100, 100]],
  ]);
  assert.equal(layerAt(picture, 1, 120)?.block?.owner, "a");
  assert.equal(layerAt(picture, 1, 20)?.name, OLDER);
  assert.equal(layerAt(picture, 3, 120), null);
  const y = (bytes: number) => 200 - bytes;
  assert.equal(outline(picture.layers[1]!, (column) => column * 10, y), "M10.0 50.0H30.0V150.0H10.0Z");
  assert.equal(outline(picture.layers[0]!, (column) => column * 10, y), "M0.0 200.0H10.0V150.0H40.0V200.0H0.0Z");
});

test("changes that cannot be matched add up by category", async () => {
  const memory = (await traced([
    [null, 0, null, 100, 100, "gradient", "gradient", null],
    [null, 10, null, 30, 130, null, null, null],
    [null, 20, null, -60, 70, "gradient", "gradient", null],
  ]))[0]!;
  assert.equal(memory.isMatched, false);
  const held = holdersAt(memory, 25).map(({ category, bytes }) => [category, bytes]);
  assert.deepEqual(held, [["gradient", 40], [null, 30]]);
  const { layers } = blockPicture(memory, { from: 0, to: 30 }, 3, 10);
  assert.deepEqual(layers.map(({ name, bytes }) => [name, bytes]), [
    ["gradient", [100, 100, 40]], ["no category", [0, 30, 30]],
  ]);
});

test("blocks of a snapshot that are older than its history are held all the time", async () => {
  const memory = (await traced([
    [0, null, null, 64, 64, "setup (a.py:1)", null, "setup (a.py:1)"],
    [0, 5, null, 10, 74, "step (a.py:2)", null, null],
  ]))[0]!;
  assert.deepEqual(holdersAt(memory, 0).map(({ owner, bytes }) => [owner, bytes]), [["setup (a.py:1)", 64]]);
  assert.deepEqual(peakOf(memory), { at: 5, bytes: 74 });
});
