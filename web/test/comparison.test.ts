// Two recordings side by side: pairs of steps, linked windows, highlights, links.

import assert from "node:assert/strict";
import test from "node:test";
import { Comparison, pairsOfSteps, type StepPair } from "../model/page/comparison.ts";
import { Workspace } from "../model/page/workspace.ts";
import { linkOf, readLink } from "../model/page/permalink.ts";
import { changed } from "../model/page/state.ts";
import { readReport } from "../model/recording/read_report.ts";
import type { Report, ReportTable } from "../model/recording/report.ts";
import { Viewer } from "../model/page/viewer.ts";
import { viewerOf } from "./opened.ts";

const column = (name: string, type: string, unit: string | null = null) => ({ name, type, unit, doc: "" });

type Side = [start: number | null, length: number | null];

function reportOf(steps: [name: string, base: Side, next: Side][]): Report {
  const times = ["base_start_ns", "base_ns", "new_start_ns", "new_ns"].map((name) => column(name, "integer", "ns"));
  const columns = [column("name", "text"), ...times];
  const rows = steps.map(([name, base, next]) => [name, ...base, ...next]);
  return readReport(JSON.stringify({ tables: [{ name: "steps", columns, rows, row_count: rows.length, notes: [] }] }));
}

const PAIRS: StepPair[] = [
  { name: "1", base: { from: 10_000, to: 30_000 }, next: { from: 40_000, to: 70_000 } },
  { name: "2", base: { from: 50_000, to: 70_000 }, next: { from: 70_000, to: 95_000 } },
];

function compared(): Comparison {
  return new Comparison(viewerOf("drawn"), viewerOf("drawn"), readReport("{}"), PAIRS);
}

test("the pairs of steps are those of the comparison; a step of one side has no pair", () => {
  const report = reportOf([["1 and 2", [10, 10], [5, 8]], ["3", [20, 10], [null, null]], ["4", [30, 10], [13, 9]]]);
  const pairs = pairsOfSteps(report);
  assert.deepEqual(pairs, [
    { name: "1 and 2", base: { from: 10, to: 20 }, next: { from: 5, to: 13 } },
    { name: "4", base: { from: 30, to: 40 }, next: { from: 13, to: 22 } },
  ]);
  assert.deepEqual(pairsOfSteps(readReport("{}")), []);
});

test("the aligned steps begin at the same pixel, and one window follows the other until it is released", () => {
  const comparison = compared();
  const { base, next } = comparison;
  const release = comparison.follow();
  comparison.align(1);
  assert.equal(comparison.offset, 20_000);
  const share = (of: Viewer, moment: number) => (moment - of.state.view.from) / (of.state.view.to - of.state.view.from);
  assert.ok(Math.abs(share(base, 50_000) - share(next, 70_000)) < 1e-9);
  assert.ok(next.state.view.from < 70_000 && next.state.view.to > 95_000);
  base.set({ view: { from: 50_000, to: 51_000 } });
  assert.deepEqual(next.state.view, { from: 70_000, to: 71_000 });
  next.set({ view: { from: 80_000, to: 90_000 } });
  assert.deepEqual(base.state.view, { from: 60_000, to: 70_000 });
  release();
  next.set({ view: { from: 0, to: 1000 } });
  assert.deepEqual(base.state.view, { from: 60_000, to: 70_000 });
});

test("a window can leave its recording only up to the end of the other", () => {
  const comparison = compared();
  const release = comparison.follow();
  comparison.align(0); // NEW lies 30 us later than BASE
  comparison.next.set({ view: { from: 0, to: 10_000 } });
  assert.deepEqual(comparison.base.state.view, { from: -30_000, to: -20_000 });
  comparison.base.set({ view: { from: 95_000, to: 105_000 } });
  assert.deepEqual(comparison.base.state.view, { from: 90_000, to: 100_000 });
  assert.deepEqual(comparison.next.state.view, { from: 120_000, to: 130_000 });
  comparison.base.set({ view: { from: -1e9, to: 1e9 } });
  assert.deepEqual(comparison.base.state.view, { from: -30_000, to: 100_000 });
  release();
  assert.deepEqual(comparison.base.state.view, { from: 0, to: 100_000 });
});

test("a row highlights its event on both sides, and reports if there is none", async () => {
  const comparison = compared();
  const table = (rows: string[][]): ReportTable => ({
    name: "kernels", handle_prefix: null, columns: [column("name", "text")], row_count: rows.length, rows, notes: [],
  });
  assert.equal(await comparison.highlight(table([["relu"]]), 0), true);
  for (const side of [comparison.base, comparison.next])
    assert.deepEqual([...side.state.found.highlight!], [side.recording.strings.intern("relu")]);
  assert.equal(await comparison.highlight(table([["0 input pipeline"]]), 0), true);
  const { recording, state } = comparison.base;
  assert.deepEqual([...state.found.highlight!], [recording.strings.intern("input pipeline")]);
  assert.equal(await comparison.highlight(table([["gone"]]), 0), false);
});

test("one page at a time: the recording that opens a page is shown there", () => {
  const comparison = compared();
  const workspace = new Workspace(comparison.next, comparison);
  workspace.viewer.openPage("comparison");
  assert.deepEqual([workspace.side, comparison.base.state.page], ["new", "comparison"]);
  comparison.base.goTo({ from: 0, to: 1000 });
  assert.deepEqual([workspace.side, comparison.next.state.page], ["base", "timeline"]);
  workspace.show("new");
  assert.equal(workspace.viewer, comparison.next);
  workspace.viewer.openPage("tables");
  assert.equal(comparison.base.state.page, "tables");
  workspace.show("base");
  workspace.viewer.openPage("comparison");
  assert.equal(workspace.side, "new");
  assert.equal(new Workspace(comparison.next).viewers.length, 1);
});

test("a link keeps the side, the step, and a window next to the recording", () => {
  const { base, next } = compared();
  const view = { from: -5000, to: -20 };
  const shown = changed(next.state, { page: "comparison", comparison: { aligned: 1 }, view });
  const link = readLink(linkOf({ side: "new", shown, other: base.state }));
  assert.equal(link.side, "new");
  assert.deepEqual([link.shown["comparison.aligned"], link.shown.page, link.shown.view], [1, "comparison", view]);
  assert.equal(readLink(linkOf({ side: "base", shown: base.state, other: next.state })).side, "base");
});
