// Tables: one unit per column, virtual rows, rows in chunks, what was chosen as text in the address, Markdown.

import assert from "node:assert/strict";
import test from "node:test";
import { columnFormats, headingText } from "../layout/column_format.ts";
import { markdown } from "../layout/markdown.ts";
import { rowWindow, ROW, scrollTo } from "../layout/row_window.ts";
import { linkOf, readLink } from "../model/page/permalink.ts";
import type { Cell, ReportTable } from "../model/recording/report.ts";
import { PLAIN, shapeRows, type TableShape } from "../model/table/table_shape.ts";
import { CSV, textOfRows } from "../model/table/table_text.ts";
import { Viewer } from "../model/page/viewer.ts";
import { buildDocument, columnsOf } from "./document.ts";
import { open } from "./opened.ts";
import { drawnInput } from "./sample_documents.ts";

const tableOf = (columns: ReportTable["columns"], rows: Cell[][]): ReportTable =>
  ({ name: "t", handle_prefix: null, columns, row_count: rows.length, rows, notes: [] });

function shownAs(name: string, type: string, unit: string | null, values: Cell[]): [string, string[]] {
  const format = columnFormats(tableOf([{ name, type, unit, doc: "" }], values.map((value) => [value])))[0]!;
  return [headingText(format), values.map(format.text)];
}

test("values of a column share the unit of the heading", () => {
  const durations = shownAs("dur_ns", "integer", "ns", [1_234_567, 2_000_000, 154_000_000, 800, null]);
  assert.deepEqual(durations, ["duration (ms)", ["1.235", "2.000", "154.000", "0.001", "–"]]);
  assert.deepEqual(shownAs("mean_ns", "real", "ns", [12_340, 15_000, 99_000]), ["mean (us)", ["12.3", "15.0", "99.0"]]);
  assert.deepEqual(shownAs("dur_ns", "integer", "ns", [12, 400, 5000]), ["duration (ns)", ["12", "400", "5,000"]]);
  assert.deepEqual(shownAs("start_ns", "integer", "ns", [1_000_001, 25_000_999]), ["start (ms)", ["1.000", "25.001"]]);
  assert.deepEqual(shownAs("share_pct", "real", "%", [70.42, 0.01, 0]), ["share (%)", ["70.4", "<0.1", "0.0"]]);
  const bytes = shownAs("bytes", "integer", "bytes", [4096, 1_048_576, 0]);
  assert.deepEqual(bytes, ["bytes (MiB)", ["0.004", "1.000", "0.000"]]);
  assert.deepEqual(shownAs("count", "integer", "count", [12_345, 1]), ["count", ["12,345", "1"]]);
  assert.deepEqual(shownAs("stream", "integer", null, [12_345]), ["stream", ["12345"]]);
  assert.deepEqual(shownAs("own", "boolean", null, [true, false, null]), ["own", ["yes", "no", "–"]]);
});

test("a million rows have a window of few, and every row can be scrolled to", () => {
  const room = 600;
  for (const rows of [3, 1000, 1_000_000, 50_000_000]) {
    const whole = rowWindow(rows, 0, room).height;
    assert.ok(whole <= 8_000_000);
    for (const row of [0, Math.floor(rows / 3), rows - 1]) {
      const top = scrollTo(row, rows, 0, room);
      assert.ok(top >= 0 && top <= Math.max(0, whole - room) + 1e-6, `${row} of ${rows}: ${top}`);
      const { first, last, offset } = rowWindow(rows, top, room);
      assert.ok(first <= row && row < last && last - first < 60);
      const y = offset + (row - first) * ROW - top; // on the screen
      assert.ok(y > -1e-3 && y + ROW < room + 1e-3, `${row} of ${rows} is at ${y}`);
    }
  }
});

const ROWS = 20_000;
const LONG = {
  columns: columnsOf("start_ns:integer:ns name share_pct:real:% blocking:boolean"),
  rows: Array.from({ length: ROWS }, (_, row): Cell[] => {
    const [name, share] = [row % 3 === 0 ? null : `kernel ${row % 11}`, row % 5 === 0 ? null : row / 8];
    return [row * 7, name, share, row % 2 === 0];
  }),
};

/** A recording with a table, of which the report has the first rows. */
function documentOf(columns: ReportTable["columns"], rows: Cell[][], reported: number) {
  const table = { ...tableOf(columns, rows), name: "long", rows: rows.slice(0, reported) };
  const report = { trust: [], findings: [], tables: [table] };
  const built = buildDocument({ ...drawnInput(), report, long_tables: [{ name: "long", columns, rows }] });
  return { recording: open(built), table };
}

async function longTable() {
  const { recording } = documentOf(LONG.columns, LONG.rows, 2000);
  const read = (await recording.report()).tables[0]!;
  return { recording, table: read, source: recording.rowsOf(read) };
}

test("rows beyond those of the report are read in chunks and equal what was written", async () => {
  const { source } = await longTable();
  assert.equal(source.length, ROWS);
  assert.equal(source.row(19_999), null);
  await new Promise<void>((done) => (source.onLoad = done));
  assert.deepEqual(source.row(19_999), LONG.rows[19_999]);
  const some = [16_384, 0, 1999, 8192, 2000, 8191];
  assert.deepEqual(await source.read(some), some.map((row) => LONG.rows[row]));
});

test("rows from more chunks than fit on a screen are read once, and then are there", async () => {
  const rows = 120_000; // of 15 chunks
  const all = Array.from({ length: rows }, (_, row) => [row]);
  const { recording, table } = documentOf(columnsOf("count:integer"), all, 1);
  const source = recording.rowsOf(table);
  const shown = Array.from({ length: 60 }, (_, i) => (i * 7919) % rows);
  let drawings = 0;
  await new Promise<void>((done) => {
    const draw = () => {
      assert.ok(++drawings < 5, "drawing never ends");
      if (shown.map((row) => source.row(row)).every((cells) => cells !== null)) done();
    };
    source.onLoad = draw;
    draw();
  });
  assert.deepEqual(shown.map((row) => source.row(row)), shown.map((row) => [row]));
});

test("filter, order and groups cover all rows, also beyond those of the report", async () => {
  const { table, source } = await longTable();
  const shape = async (change: Partial<TableShape>) => {
    const found = await shapeRows(table, source, { ...PLAIN, ...change }, () => true);
    assert.ok(found.ok);
    return found.value;
  };
  const all = LONG.rows.map((_, row) => row);
  assert.deepEqual(
    Array.from((await shape({ filter: "start>130us kernel 7" })).rows),
    all.filter((row) => row * 7 > 130_000 && row % 3 !== 0 && row % 11 === 7),
  );
  const sorted = (await shape({ sort: "-share_pct" })).rows;
  assert.deepEqual([sorted[0], sorted[15_999], sorted[16_000], sorted.length], [19_999, 1, 0, ROWS]);
  const groups = (await shape({ group: "name" })).table;
  assert.equal(groups.row_count, 12);
  assert.equal(groups.rows.reduce((sum, row) => sum + Number(row[1]), 0), ROWS);
  const stopped = await shapeRows(table, source, { ...PLAIN, sort: "name" }, () => false);
  assert.ok(!stopped.ok);
});

test("CSV has all rows in display order, with the shown columns only", async () => {
  const { table, source } = await longTable();
  const found = await shapeRows(table, source, { ...PLAIN, sort: "-start_ns" }, () => true);
  assert.ok(found.ok);
  const text = (await textOfRows(found.value, [0, 3], CSV, () => {})).join("");
  const expected = ["start_ns,blocking", ...LONG.rows.map((row) => `${row[0]},${row[3]}`).reverse()];
  assert.equal(text, expected.join("\n") + "\n");
});

test("Markdown cannot be broken by names", async () => {
  const table = tableOf(columnsOf("name total_ns:integer:ns"), [["f<int>(float *) | `x`\n[y](z)", 1500]]);
  const rows = { table, source: { ...(await longTable()).source, read: async () => table.rows } as never, rows: [0] };
  const text = (await textOfRows(rows, [0, 1], markdown(columnFormats(table)), () => {})).join("");
  assert.equal(text, "| name | total (us) |\n| --- | ---: |\n| f\\<int>(float \\*) \\| \\`x\\` \\[y\\](z) | 1.50 |\n");
});

test("what was chosen about a table travels in the address", async () => {
  const { recording } = await longTable();
  const viewer = new Viewer(recording);
  viewer.openTable("long");
  const shape = { filter: "dur>1ms a&b=c", sort: "-start_ns", group: "name", hidden: ["share_pct", "blocking"] };
  viewer.set({ tables: { shape } });
  assert.deepEqual(readLink(linkOf({ side: "new", shown: viewer.state, other: null })).shown["tables.shape"], shape);
  viewer.openTable("other");
  const { shown } = readLink(linkOf({ side: "new", shown: viewer.state, other: null }));
  assert.deepEqual(shown["tables.shape"] ?? PLAIN, PLAIN);
});
