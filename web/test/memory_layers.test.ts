// The memory of devices by owner: layers that add up, and their areas.

import assert from "node:assert/strict";
import { test } from "node:test";
import { stackedAreas } from "../layout/stacked_area.ts";
import { memoryLayers } from "../model/recording/memory_layers.ts";
import type { Cell, ReportTable } from "../model/recording/report.ts";

const COLUMNS = [
  "device", "at_ns", "used_bytes", "allocated_bytes", "cached_bytes", "calls_bytes", "rest_bytes", "others_bytes",
  "device_rest_bytes", "not_attributed_bytes",
];

function curve(rows: Cell[][]): ReportTable {
  const columns = COLUMNS.map((name) => ({ name, type: "integer", unit: "bytes", doc: "" }));
  return { name: "memory_curve", handle_prefix: null, columns, row_count: rows.length, rows, notes: [] };
}

test("layers add up to the memory in use; parts that were not recorded are missing", () => {
  const [first, second] = memoryLayers(curve([
    [0, 0, 100, 60, 10, null, 20, 10, 0, null],
    [1, 0, 7, null, null, null, null, null, null, 7],
    [0, 50, 130, 80, 0, null, 20, 30, 0, null],
  ]));
  assert.deepEqual([first!.device, first!.times, first!.used], [0, [0, 50], [100, 130]]);
  assert.deepEqual(first!.layers.map(({ name, bytes }) => [name, bytes]), [
    ["allocated by frameworks", [60, 80]],
    ["cached by frameworks", [10, 0]],
    ["context, code and unrecorded memory", [20, 20]],
    ["other processes", [10, 30]],
  ]);
  first!.used.forEach((used, i) => assert.equal(first!.layers.reduce((sum, { bytes }) => sum + bytes[i]!, 0), used));
  assert.deepEqual(second!.layers, [{ name: "not attributed", bytes: [7] }]);
  assert.deepEqual(memoryLayers(curve([])), []);
});

test("areas step from value to value, and lie on each other", () => {
  const y = (sum: number) => 100 - sum;
  assert.deepEqual(stackedAreas([0, 10], [[20, 40], [5, 1]], 30, y), [
    "M0.0 80.0H10.0V60.0H30.0V100.0H10.0V100.0H0.0Z",
    "M0.0 75.0H10.0V59.0H30.0V60.0H10.0V80.0H0.0Z",
  ]);
  assert.deepEqual(stackedAreas([], [[]], 30, y), [""]);
});
