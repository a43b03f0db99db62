// An untrusted report: missing members, or members of another type, are absent and never cause an exception.

import assert from "node:assert/strict";
import test from "node:test";
import { readReport } from "../model/recording/read_report.ts";

test("missing members are absent", () => {
  assert.deepEqual(readReport("{}"), {
    tool: "", version: "", trust: [], lead: [], tables: [], findings: [], verdict: null, next_steps: [],
  });
  const { findings, verdict, tables } = readReport(
    '{"findings": [{"title": "x"}], "verdict": {}, "tables": [{"rows": [[1, null, {}, [2]], 3]}]}',
  );
  assert.deepEqual([findings[0]?.cost_ns, findings[0]?.share_pct, findings[0]?.evidence], [null, null, []]);
  assert.deepEqual([verdict?.name, verdict?.share_pct, verdict?.alternatives], ["", null, []]);
  assert.deepEqual([tables[0]?.rows, tables[0]?.row_count, tables[0]?.columns], [[[1, null, null, null], []], 2, []]);
});

test("members of unexpected types are absent", () => {
  for (const json of [
    "null", "[]", "3", '{"tables": {"length": 5}}', '{"trust": "text", "findings": 7, "verdict": [1]}',
    '{"tables": [null, 1, "x"]}',
  ]) {
    const report = readReport(json);
    assert.ok(Array.isArray(report.tables) && Array.isArray(report.findings) && Array.isArray(report.trust), json);
  }
});
