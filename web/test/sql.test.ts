// SQL in the page: completion, answers as tables, times of rows, bands.

import assert from "node:assert/strict";
import { test } from "node:test";
import recipes from "sql-cookbook";
import { answerBands } from "../layout/answer_bands.ts";
import { headingOf } from "../model/table/heading.ts";
import { answerTables, rowTimes } from "../model/search/sql_answer.ts";
import { completeSql } from "../model/search/sql_completion.ts";
import type { SqlSchema } from "../read/sql_client.ts";

const plain = (name: string) => ({ name, unit: "", doc: "" });

const schema: SqlSchema = {
  limits: { rows: 10, answer_bytes: 10, sql_bytes: 10, seconds: 1 },
  tables: [
    { name: "kernel", doc: "Kernels.", rows: 3, columns: ["name", "start_ns", "stream"].map(plain) },
    { name: "memcpy", doc: "Copies.", rows: 3, columns: ["start_ns", "bytes"].map(plain) },
  ],
  functions: [{ synopsis: "busy(start, end)", doc: "" }, { synopsis: "text REGEXP pattern", doc: "" }],
};

const offered = (text: string, cursor = text.length) =>
  completeSql(schema, text, cursor)?.words.map((word) => word.text) ?? null;

test("tables are offered after FROM and JOIN, columns elsewhere", () => {
  assert.deepEqual(offered("SELECT 1 FROM k"), ["kernel"]);
  assert.deepEqual(offered("SELECT 1 FROM kernel JOIN m"), ["memcpy"]);
  assert.deepEqual(offered("SELECT st"), ["start_ns", "stream"]);
  assert.deepEqual(offered("SELECT b FROM memcpy", 8), ["bytes", "busy(", "BETWEEN", "BY"]);
  assert.deepEqual(offered("SELECT memcpy.b"), ["bytes"]);
  assert.deepEqual(offered("SELECT kernel."), ["name", "start_ns", "stream"]);
});

test("nothing is offered for no word, a whole word and inside a text", () => {
  assert.equal(offered("SELECT "), null);
  assert.equal(offered("SELECT name"), null);
  assert.equal(offered("SELECT 1 FROM kernel WHERE name = 'na"), null);
  assert.deepEqual(offered("SELECT 'x', na"), ["name"]);
});

test("the word at the cursor is replaced", () => {
  assert.equal(completeSql(schema, "SELECT kernel.na FROM kernel", 16)!.from, 14);
});

function answer(names: string[], rows: unknown[][], more = false) {
  const columns = names.map((name) => ({ name }));
  return answerTables({ tables: [{ name: "query", columns, rows, row_count: rows.length, more }] })[0]!;
}

test("columns keep their names, have no unit, and get their types from their cells", () => {
  const table = answer(["name", "dur_ns", "x", "dur_ns"], [["a", 5, 1.5, null], ["b", null, 2, null]]);
  assert.deepEqual(
    table.columns.map((column) => [column.name, headingOf(column), column.type, column.unit]),
    [
      ["name", "name", "text", null], ["dur_ns", "dur_ns", "integer", null], ["x", "x", "real", null],
      ["dur_ns (2)", "dur_ns", "text", null],
    ],
  );
});

test("an answer that goes on says so", () => {
  assert.equal(answer(["a"], [[1]]).notes.length, 0);
  assert.match(answer(["a"], [[1]], true).notes[0]!, /first 1 rows/);
});

test("rows have times by a start with an end or a length", () => {
  assert.deepEqual(rowTimes(answer(["start_ns", "dur_ns"], [[10, 5], [null, 5]])), [{ from: 10, to: 15 }, null]);
  assert.deepEqual(rowTimes(answer(["from_ns", "to_ns"], [[10, 30]])), [{ from: 10, to: 30 }]);
  assert.deepEqual(rowTimes(answer(["time_ns"], [[10]])), [{ from: 10, to: 10 }]);
  assert.equal(rowTimes(answer(["dur_ns"], [[10]])), null);
});

test("bands that touch are one, and at least two pixels wide", () => {
  const x = (time: number) => time / 10;
  const bands = answerBands([{ from: 0, to: 1 }, { from: 10, to: 100 }, { from: 500, to: 600 }], x, 55);
  assert.deepEqual(bands, [{ x0: 0, x1: 10 }, { x0: 50, x1: 55 }]);
  assert.deepEqual(answerBands([{ from: -100, to: -50 }, { from: 900, to: 950 }], x, 55), []);
});

test("the page has the recipes of the cookbook", () => {
  assert.equal(recipes.length, 20);
  assert.ok(recipes.every(({ question, sql }) => question.endsWith("?") && /^(SELECT|WITH)/.test(sql)));
});
