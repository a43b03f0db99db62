// Exposed communication by GPU and step, and heat maps of GPUs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { mostExposed, readCommunication } from "../model/recording/communication.ts";
import type { Recording } from "../model/recording/recording.ts";
import type { Cell, ReportTable } from "../model/recording/report.ts";
import { wholeRows } from "../model/table/table_rows.ts";
import { runsOf } from "../view/parts/heat_grid.tsx";

const COLUMNS = [
  "device", "step", "start_ns", "dur_ns", "comm_ns", "exposed_ns", "collective", "collective_ns", "behind",
  "behind_ns",
];

function read(rows: Cell[][]) {
  const columns = COLUMNS.map((name) => ({ name, type: "integer", unit: null, doc: "" }));
  const table: ReportTable =
    { name: "communication", handle_prefix: "x", columns, row_count: rows.length, rows, notes: [] };
  return readCommunication({ rowsOf: () => wholeRows(table) } as unknown as Recording, table);
}

test("steps are in order of time, what is outside them is last, and sums are those of the devices", async () => {
  const found = (await read([
    [0, "1", 10, 5, 4, 1, "nccl", 1, "gemm", 3],
    [0, "2", 20, 5, 4, 4, "nccl", 4, null, null],
    [0, null, null, null, 2, 2, "nccl", 2, null, null],
    [3, "1", 10, 5, 9, 8, "nccl", 8, "gemm", 1],
  ]))!;
  assert.deepEqual(found.devices, [0, 3]);
  assert.deepEqual(found.steps.map(({ name }) => name), ["1", "2", null]);
  const exposed = found.steps.map(({ cells }) => cells.map((cell) => cell?.exposed ?? null));
  assert.deepEqual(exposed, [[1, 8], [4, null], [2, null]]);
  assert.deepEqual(found.totals, [{ comm: 10, exposed: 7 }, { comm: 9, exposed: 8 }]);
  assert.deepEqual(mostExposed(found, 2).map(({ device, step }) => [device, step.name]), [[3, "1"], [0, "2"]]);
  assert.equal(await read([]), null);
});

test("neighbouring columns of one shade are one rectangle, and unknown ones are empty", () => {
  assert.deepEqual(runsOf([0, 1, 1, 0.5, null, 0.5]), [[1, 3, 1], [3, 4, 0.5], [5, 6, 0.5]]);
  assert.deepEqual(runsOf([]), []);
});
