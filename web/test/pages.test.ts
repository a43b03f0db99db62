// The logic of the pages: references in sentences, filters, orders, groups, CSV, places of rows.

import assert from "node:assert/strict";
import test from "node:test";
import { busyPath } from "../layout/busy_path.ts";
import { exactCell } from "../layout/cell_text.ts";
import { csvHead, csvLine, harmlessText, realText } from "../model/table/csv.ts";
import { piecesOf } from "../model/table/handles.ts";
import { longestEvent } from "../model/recording/longest.ts";
import { readReport } from "../model/recording/read_report.ts";
import type { ReportTable } from "../model/recording/report.ts";
import { namesOf, showRow, showRowAbout } from "../model/table/row_navigation.ts";
import { wholeRows } from "../model/table/table_rows.ts";
import { PLAIN, shapeWhole, type TableShape } from "../model/table/table_shape.ts";
import { Viewer } from "../model/page/viewer.ts";
import { buildDocument, columnsOf } from "./document.ts";
import { open, opened } from "./opened.ts";

const KERNELS: ReportTable = {
  name: "kernels",
  handle_prefix: "k",
  columns: columnsOf("name count:integer:count total_ns:integer:ns mean_ns:real:ns limiter"),
  row_count: 4,
  rows: [
    ['f<int, "x">', 2, 3_000_000, 1_500_000, "registers"],
    ["g", 10, 1_000_000, 100_000, null],
    ["h", 1, null, null, "registers"],
    ["a b", 3, 2_000_000, 666_666.5, null],
  ],
  notes: [],
};

const shaped = (shape: Partial<TableShape>) => shapeWhole(KERNELS, wholeRows(KERNELS), { ...PLAIN, ...shape });
const rows = (filter: string, sort = "") => {
  const found = shaped({ filter, sort });
  return found.ok ? found.value.rows : found.error;
};

test("only existing handles and tables are found in sentences", () => {
  const report = readReport(JSON.stringify({ tables: [KERNELS] }));
  const text = "k-2 and k-9, nok-1, k-1x: see `kernels` and `nothing`";
  const pieces = piecesOf(report, text);
  const linked = pieces.filter((piece) => piece.to).map((piece) => [piece.text, piece.to!.row]);
  assert.deepEqual(linked, [["k-2", 1], ["kernels", null]]);
  assert.deepEqual(pieces.filter((piece) => piece.isCode).map((piece) => piece.text), ["nothing"]);
  assert.equal(pieces.map((piece) => piece.text).join(""), text.replaceAll("`", ""));
});

test("filters compare by column, with units, and by text", () => {
  assert.deepEqual(rows("total_ns>1ms"), [0, 3]);
  assert.deepEqual(rows("total_ns>=1ms count<=3"), [0, 3]);
  assert.deepEqual(rows("total_ns=1000000"), [1]);
  assert.deepEqual(rows("REG"), [0, 2]);
  assert.deepEqual(rows("a b"), [3]);
  assert.deepEqual(rows("limiter=registers count>1"), [0]);
  assert.deepEqual(rows('f<int, "x">'), [0]);
  assert.deepEqual(rows("nothing>1"), []);
  assert.deepEqual(rows("total>1ms"), [0, 3]);
  assert.match(String(rows("total_ns>1kg")), /1kg.*total.*ns/);
  assert.match(String(rows("name>1")), /name.*=/);
});

test("numbers sort as numbers, absent cells come last either way", () => {
  assert.deepEqual(rows("", "-total_ns"), [0, 3, 1, 2]);
  assert.deepEqual(rows("", "total_ns"), [1, 3, 0, 2]);
  assert.deepEqual(rows("", "count"), [2, 0, 3, 1]);
  assert.deepEqual(rows("", "limiter"), [0, 2, 1, 3]);
});

test("groups sum what adds up and nothing else", () => {
  const found = shaped({ group: "limiter" });
  assert.ok(found.ok);
  const grouped = found.value.table;
  assert.deepEqual(grouped.columns.map((each) => each.name), ["limiter", "rows", "count", "total_ns"]);
  assert.deepEqual(grouped.rows, [[null, 2, 13, 3_000_000], ["registers", 2, 3, 3_000_000]]);
});

test("texts in CSV are made harmless as in the program's CSV", () => {
  const texts = ["=1+1", "+x", "-5", "-5e3", "-", "@a", "\t=x", "\r=x", "'x", "\uFF1Dx", "a=b", "a\x1b[31m\rb", "#x"];
  const expected = [
    "'=1+1", "'+x", "-5", "-5e3", "'-", "'@a", "'\t=x", "'\uFFFD=x", "''x", "'\uFF1Dx", "a=b", "a\uFFFD[31m\uFFFDb",
    "#x",
  ];
  assert.deepEqual(texts.map(harmlessText), expected);
});

test("CSV is quoted, and reals are spelled, as by the program", () => {
  const lines = [0, 2].map((row) => csvLine(KERNELS, [0, 1, 2, 3, 4], KERNELS.rows[row]!));
  assert.equal(
    csvHead(KERNELS, [0, 1, 2, 3, 4]) + lines.join(""),
    'name,count,total_ns,mean_ns,limiter\n"f<int, ""x"">",2,3000000,1500000.0,registers\nh,1,,,registers\n',
  );
  assert.deepEqual([0, 1.5, 8, 1e15, 1e16, 1.25e-5, 1e-4, 1e22].map(realText), [
    "0.0", "1.5", "8.0", "1000000000000000.0", "1e+16", "1.25e-05", "0.0001", "1e+22",
  ]);
});

test("exact values have units and a mark for absent values", () => {
  assert.equal(exactCell(null, KERNELS.columns[2]!), "unknown");
  assert.equal(exactCell(1234567, KERNELS.columns[2]!), "1,234,567 ns");
});

test("the outline of busy shares shows even a little work", () => {
  assert.equal(busyPath([0, 1, 0.5, 0.5, 0.001, 0]), "M0 1H1V0H2V0.5H4V0.97H5V1H6V1Z");
});

test("names match numbered names and the end of a path", () => {
  const figures = { kind: null, count: 1, total: 1, first: 0, last: 0 };
  const name = (text: string, table = "range") => ({ table, name: text, ...figures });
  const names = [name("step#1"), name("step#12"), name("load"), name("a/load"), name("load", "op")];
  const found = (wanted: string) => namesOf(names, ["range"], wanted).map((each) => each.name);
  assert.deepEqual(found("step*"), ["step#1", "step#12"]);
  assert.deepEqual(found("step*/load"), ["load"]);
  assert.deepEqual(found("step*/a/load"), ["a/load"]);
  assert.deepEqual(found("none"), []);
});

test("the longest event is found among merged events and within a time span", async () => {
  const durOf = (row: number) => (row === 3210 ? 93 : 1 + (row % 50));
  const eventOf = (row: number) => ({ start: row * 100, dur: durOf(row), name: row % 2 ? "odd" : "even", row });
  const lanes = [{ track: 0, table: "kernel", events: Array.from({ length: 5000 }, (_, row) => eventOf(row)) }];
  const tracks = [{ parent: -1, kind: "stream", name: "s" }];
  const recording = open(buildDocument({ window_ns: 500_000, tracks, lanes }));
  const longest = async (from: number, to: number, name: string) => {
    const id = recording.strings.intern(name);
    const found = await longestEvent(recording, recording.manifest.lanes, (_, each) => each === id, { from, to });
    return found && found.slices.row[found.index];
  };
  assert.equal(await longest(0, 500_000, "even"), 3210);
  assert.equal(await longest(0, 500_000, "odd"), 49);
  assert.equal(await longest(10_000, 14_000, "odd"), 139);
  assert.equal(await longest(0, 500_000, "none"), null);
});

test("rows of the report lead to the timeline, and events back to their rows", async () => {
  const recording = opened("drawn");
  const viewer = new Viewer(recording);
  const table = (name: string, handle_prefix: string, columns: string, rows: unknown[][]) =>
    ({ name, handle_prefix, columns: columnsOf(columns), row_count: rows.length, rows, notes: [] });
  const gaps = [[0, 60_000, 30_000, "input pipeline"], [0, 40_000, 10_000, "launch"]];
  const tables = [
    { ...KERNELS, rows: [["relu", 1, 10_000, 10_000, null]] },
    table("gaps", "gap", "device:integer start_ns:integer:ns dur_ns:integer:ns cause", gaps),
    table("idle", "idle", "device:integer cause", [[0, "launch"]]),
    table("steps", "step", "start_ns:integer:ns dur_ns:integer:ns", [[5000, 90_000]]),
  ];
  const report = readReport(JSON.stringify({ tables }));
  recording.report = () => Promise.resolve(report);
  const show = async (name: string, row: number) => {
    await showRow(viewer, report, report.tables.find((table) => table.name === name)!, row);
    return viewer.state;
  };
  let state = await show("gaps", 0);
  const { from, to, name } = state.selection!;
  assert.deepEqual([state.page, from, to, name], ["timeline", 60_000, 90_000, "input pipeline"]);
  assert.ok(state.view.from <= 60_000 && state.view.to >= 90_000);
  await showRowAbout(viewer, state.selection!);
  assert.deepEqual(viewer.state.tables.table, { name: "gaps", row: 0 });
  state = await show("idle", 0);
  assert.equal(state.selection?.from, 40_000);
  assert.deepEqual([...state.found.highlight!], [recording.strings.intern("launch")]);
  state = await show("kernels", 0);
  assert.deepEqual([state.selection?.table, state.selection?.row], ["kernel", 1]);
  await showRowAbout(viewer, state.selection!);
  assert.deepEqual([viewer.state.page, viewer.state.tables.table], ["tables", { name: "kernels", row: 0 }]);
  state = await show("steps", 0);
  assert.deepEqual([state.page, state.range], ["timeline", { from: 5000, to: 95_000 }]);
});
