// The logic of the charts: areas, bins, ticks, stacks, roofs, executions; counted by hand.

import assert from "node:assert/strict";
import test from "node:test";
import { logBins } from "../layout/log_bins.ts";
import { treemap } from "../layout/treemap.ts";
import { linearTicks, logTicks } from "../layout/value_ticks.ts";
import { executionAt, executionsOf, percentileOf } from "../model/range/executions.ts";
import { pointsOf } from "../model/recording/counter_points.ts";
import { operatorsOf, roofsOf } from "../model/kernel/roofline.ts";
import { opened } from "./opened.ts";

const drawn = () => opened("drawn");

const ALL = { from: 0, to: 100_000 };

test("treemap boxes are proportional, fill the rectangle and do not overlap", () => {
  const amounts = [50, 20, 10, 10, 5, 3, 1, 1];
  for (const room of [{ x: 0, y: 0, width: 800, height: 300 }, { x: 5, y: 7, width: 100, height: 400 }]) {
    const boxes = treemap(amounts, room);
    boxes.forEach((box, i) => {
      assert.ok(Math.abs(box.width * box.height - (amounts[i]! / 100) * room.width * room.height) < 1e-6);
      assert.ok(box.x >= room.x - 1e-9 && box.x + box.width <= room.x + room.width + 1e-6);
      assert.ok(box.y >= room.y - 1e-9 && box.y + box.height <= room.y + room.height + 1e-6);
      for (const other of boxes.slice(0, i)) {
        const across = Math.min(box.x + box.width, other.x + other.width) - Math.max(box.x, other.x);
        const down = Math.min(box.y + box.height, other.y + other.height) - Math.max(box.y, other.y);
        assert.ok(across < 1e-6 || down < 1e-6);
      }
    });
  }
  assert.deepEqual(treemap([], { x: 0, y: 0, width: 10, height: 10 }), []);
});

test("every value is in exactly one bin, and all bins have the same ratio", () => {
  const values = Float64Array.from([0, 1, 1, 2, 9, 10, 99, 100, 1000]);
  const bins = logBins(values, 3);
  assert.deepEqual(bins.map((bin) => bin.count), [5, 2, 2]);
  assert.deepEqual(bins.map((bin) => Math.round(bin.to)), [10, 100, 1000]);
  assert.deepEqual(logBins(Float64Array.from([7, 7, 7]), 9), [{ from: 7, to: 7, first: 0, count: 3 }]);
  assert.deepEqual(logBins(new Float64Array(0), 9), []);
});

test("ticks are round, whole for counts, powers of two for bytes", () => {
  assert.deepEqual(linearTicks(2, "count", 4).map((tick) => tick.text), ["0", "1", "2"]);
  assert.deepEqual(linearTicks(7 * 2 ** 30, "bytes", 4).map((tick) => tick.text), ["0 B", "2 GiB", "4 GiB", "6 GiB"]);
  assert.deepEqual(linearTicks(1498, "MiB", 4).map((tick) => tick.text), ["0 B", "512 MiB", "1 GiB"]);
  assert.deepEqual(linearTicks(52_000_000, "ns", 4).map((tick) => tick.text), ["0 ms", "20 ms", "40 ms"]);
  assert.deepEqual(logTicks(30, 700, String).map((tick) => tick.at), [50, 100, 200, 500]);
  assert.deepEqual(logTicks(101, 135, String).map((tick) => tick.at), [110, 120, 130]);
  assert.equal(logTicks(1, 1e16, String).length, 9);
});

test("executions of a kernel and their places", async () => {
  const recording = drawn();
  const name = "void gemm<128, float>(float*, int)";
  const found = await executionsOf(recording, name, ALL, () => true);
  assert.deepEqual([...found!.start], [20_000, 90_000]);
  assert.deepEqual([...found!.dur], [10_000, 10_000]);
  assert.deepEqual(executionAt(found!, 1), { table: "kernel", row: 2, lane: 3, from: 90_000, to: 100_000, name });
  assert.equal((await executionsOf(recording, name, { from: 0, to: 50_000 }, () => true))!.length, 1);
  assert.equal(await executionsOf(recording, name, ALL, () => false), null);
  const values = Float64Array.from([1, 2, 3, 4]);
  assert.deepEqual([0, 0.5, 0.95, 1].map((share) => percentileOf(values, share)), [1, 2, 4, 4]);
});

test("a counter's points", async () => {
  const recording = drawn();
  const lane = recording.manifest.lanes.find((each) => each.kind === "value")!;
  const points = await pointsOf(recording, lane, ALL, 100);
  assert.deepEqual(points.map(({ time, high }) => [time, high]), [[0, 100], [20_000, 400], [60_000, 150]]);
});

test("roofs are rates over shares; equal roofs are merged", () => {
  const column = (name: string, type = "real") => ({ name, type, unit: null, doc: "" });
  const table = {
    name: "arithmetic",
    handle_prefix: "ar",
    columns: [
      column("name", "text"), column("shapes", "text"), column("math", "text"), column("device_ns"),
      column("flop_per_byte"), column("flop_per_s"), column("compute_pct"), column("gb_per_s"), column("bandwidth_pct"),
    ],
    row_count: 4,
    rows: [
      ["mm", "[[1]]", "bf16", 10, 100, 5e14, 50, 400, 10],
      ["mm", "[[2]]", "fp16", 5, 100, 2.5e14, 25.001, 400, 10],
      ["add", "[[1]]", "fp32", 5, 0.1, 1e11, 0.2, 1000, 25],
      ["copy", "[[1]]", "fp32", 5, 0, 0, 0, 2000, 50],
    ],
    notes: [],
  };
  assert.deepEqual(operatorsOf(table).map(({ row, intensity }) => [row, intensity]), [[0, 100], [1, 100], [2, 0.1]]);
  const { bandwidth, roofs } = roofsOf(table);
  assert.equal(bandwidth, 4e12);
  const tera = roofs.map(({ math, flop_per_s }) => [math, Math.round(flop_per_s / 1e12)]);
  assert.deepEqual(tera, [["bf16, fp16", 1000], ["fp32", 50]]);
});
