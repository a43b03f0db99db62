// The address of the page and the entries of its history: every field survives an address, an address restores exactly
// what it was written from, and one action of the user is one entry.

import assert from "node:assert/strict";
import test from "node:test";
import { changeOf, FIELDS, type Link } from "../model/page/address_fields.ts";
import { Comparison } from "../model/page/comparison.ts";
import { History } from "../model/page/history.ts";
import { changeBetween, linkOf, readLink } from "../model/page/permalink.ts";
import { readReport } from "../model/recording/read_report.ts";
import { restore } from "../model/page/restore.ts";
import { changed, type StateChange } from "../model/page/state.ts";
import type { Viewer } from "../model/page/viewer.ts";
import { Workspace } from "../model/page/workspace.ts";
import { alone, viewerOf } from "./opened.ts";

/** A value other than the initial one for every field of the state that an address holds. */
const OTHER: Link = {
  page: "timeline",
  view: { from: 10, to: 5000 },
  range: { from: 20, to: 30 },
  "steps.compared": ["median", "kept-2"],
  "comparison.ownStep": "step-3",
  "timeline.launchArrows": true,
  "tables.shape": { filter: "gemm", sort: "-total_ns", group: "name", hidden: ["a", "b"] },
  "sql.text": "SELECT name FROM kernel",
  kept: [{ number: 2, from: 20, to: 30, note: "a; b: 50 %" }],
  search: "/a&b=c #%/i",
  highlighted: ["f<int, 4>(a, b)", "ä=1&x"],
  "timeline.pinned": [5, 3],
  "timeline.collapsed": new Set([1]),
  "timeline.hidden": new Set([2]),
  "timeline.order": [2, 0, 1],
  "timeline.filter": "a&b=c",
  "timeline.track": { id: 3 },
  "tables.table": { name: "kernels", row: 3 },
  "comparison.differences": "idle",
  "charts.kernel": "void gemm<4>",
  "kernels.launch": 9,
  "kernels.sampled": "scatter:1",
  "kernels.line": "scatter.cu:14",
  "kernels.counters": { filter: "value>1", sort: "value", group: "", hidden: [] },
  "comparison.shape": { filter: "", sort: "-delta_ns", group: "", hidden: [] },
  drawer: { view: "flame", open: false, whole: ["Kernels", "a: b"] },
  flame: {
    time: "idle", view: "sandwich", python: true, about: "op aten::mm <a> 50 %", zoom: ["cpu_op f(a, b)", "range in:g"],
    callersZoom: [" main thread"],
  },
  flameSearch: "/a&b=c/",
  "timeline.criticalPath": true,
  "job.rank": 3,
  "job.step": -1,
  "job.quantity": "wait",
  "job.order": "price",
  "job.heat": { ranks: { from: 8, to: 16 }, steps: { from: 0, to: 5 } },
  "comparison.aligned": 1,
};

test("every field survives an address", () => {
  for (const { of } of FIELDS) assert.ok(of === null || of === "selection" || of in OTHER, `no example of ${of}`);
  const viewer = viewerOf("drawn");
  viewer.set(changeOf(OTHER));
  assert.deepEqual(readLink(`#${linkOf(alone(viewer.state))}`).shown, OTHER);
});

test("an address that cannot be read changes nothing", () => {
  assert.deepEqual(readLink("#heat=5-5,0-1&t=5&sel=x&page=nowhere&%%%=1&step=-1&rows=random&abs=1").shown, {});
  assert.deepEqual(readLink("#page=constructor").shown, {});
  assert.deepEqual(readLink("#fold=").shown, { "timeline.collapsed": new Set() });
});

test("an address with a former name of a page opens it under its present name", () => {
  assert.deepEqual(readLink("#page=pictures&t=10-20").shown, { page: "charts", view: { from: 10, to: 20 } });
});

test("what an address leaves out is as it was at first", async () => {
  const viewer = viewerOf("drawn");
  const first = viewer.state;
  const workspace = new Workspace(viewer);
  viewer.set(changeOf(OTHER));
  await viewer.select("kernel", 1);
  restore(workspace, readLink(linkOf(alone(first))));
  assert.equal(linkOf(workspace.snapshot), linkOf(alone(first)));
  assert.deepEqual([viewer.state.found.highlight, viewer.state.selection], [null, null]);
});

test("a restored selection is not brought into view, a chosen one is once", async () => {
  const viewer = viewerOf("drawn");
  await viewer.restoreSelection({ table: "kernel", row: 1 });
  assert.equal(viewer.state.selection?.name, "relu");
  assert.equal(viewer.takeUnrevealed(), null);
  await viewer.select("kernel", 0);
  assert.equal(viewer.takeUnrevealed(), viewer.recording.manifest.lanes[3]);
  assert.equal(viewer.takeUnrevealed(), null);
  await viewer.restoreSelection({ table: "kernel", row: 99 });
  assert.equal(viewer.state.selection, null);
  assert.match(viewer.state.problem!, /99 of kernel/);
});

test("an address holds both sides of a comparison", async () => {
  const pair = { name: "step", base: { from: 0, to: 10 }, next: { from: 5000, to: 5020 } };
  const open = () => {
    const pairs = [pair, { ...pair, name: "step 2" }];
    const comparison = new Comparison(viewerOf("drawn"), viewerOf("drawn"), readReport("{}"), pairs);
    return new Workspace(comparison.next, comparison);
  };
  const workspace = open();
  const { base, next } = workspace.comparison!;
  next.openPage("comparison");
  base.highlight(["relu"]);
  base.set({ range: { from: 1, to: 2 } });
  next.set({ comparison: { aligned: 1 }, timeline: { filter: "GPU" } });
  workspace.show("base");
  base.openPage("tables");
  const again = open();
  restore(again, readLink(linkOf(workspace.snapshot)));
  assert.equal(linkOf(again.snapshot), linkOf(workspace.snapshot));
  const { comparison: { aligned }, timeline: { filter } } = again.other!.state;
  assert.deepEqual([again.side, again.viewer.state.highlighted, aligned, filter], ["base", ["relu"], 1, "GPU"]);
});

/** A viewer with a history that keeps its entries in a list. */
function recorded() {
  const viewer = viewerOf("drawn");
  const entries: string[] = [linkOf(alone(viewer.state))];
  let now = 0;
  let waiting: { at: number; run: () => void } | null = null;
  const after = (ms: number, run: () => void) => {
    const mine = { at: now + ms, run };
    waiting = mine;
    return () => void (waiting === mine && (waiting = null));
  };
  const wait = (ms: number) => {
    now += ms;
    const due = waiting;
    if (due === null || due.at > now) return;
    waiting = null;
    due.run();
  };
  const history = new History(
    { push: (link) => void entries.push(link), replace: (link) => void entries.splice(-1, 1, link) },
    () => alone(viewer.state),
    entries[0]!,
    { now: () => now, after },
  );
  viewer.subscribe(() => history.follow());
  const act = (change: (viewer: Viewer) => void) => {
    history.act();
    change(viewer);
  };
  return { viewer, history, entries, act, wait };
}

test("one action is one entry, whatever follows from it", () => {
  const { viewer, entries, act, wait } = recorded();
  act(() => viewer.openPage("timeline"));
  viewer.set({ selection: { table: "kernel", row: 1, lane: 3, from: 0, to: 1, name: "relu" } }); // once it is read
  viewer.set({ timeline: { collapsed: new Set([1]) } });
  assert.equal(entries.length, 2);
  wait(300);
  assert.equal(entries.length, 2);
  assert.match(entries[1]!, /page=timeline.*sel=kernel:1.*fold=1/);
});

test("panning replaces the entry, and a jump leaves the former window behind", () => {
  const { viewer, entries, act, wait } = recorded();
  act(() => viewer.set({ view: { from: 0, to: 50_000 } }));
  act(() => viewer.set({ view: { from: 10_000, to: 60_000 } }));
  assert.equal(entries.length, 1);
  act(() => viewer.goTo({ from: 70_000, to: 80_000 }));
  assert.equal(entries.length, 2);
  assert.match(entries[0]!, /t=10000-60000/);
  assert.match(entries[1]!, /page=timeline&t=69000-81000/);
  act(() => viewer.jump({ from: 0, to: 100_000 }));
  assert.match(entries[2]!, /t=0-100000/);
  wait(300);
  assert.equal(entries.length, 3);
});

test("what is typed without a pause is one entry", () => {
  const { viewer, entries, act, wait } = recorded();
  viewer.highlight(["relu"]); // ends with the first letter
  for (const text of ["g", "ge", "gem"]) act(() => viewer.search(text)), wait(200);
  wait(300);
  assert.deepEqual(entries.map((link) => readLink(link).shown.search), [undefined, "gem"]);
  wait(2000);
  act(() => viewer.search("relu"));
  act(() => viewer.set({ timeline: { filter: "GPU" } }));
  assert.equal(entries.length, 4);
});

test("restoring an entry makes none, not even when its selection is read later", () => {
  const { viewer, history, entries, act, wait } = recorded();
  act(() => viewer.openPage("tables"));
  history.act(); // Alt + left
  history.enter(entries[0]!);
  viewer.openPage("overview");
  viewer.set({ selection: { table: "kernel", row: 1, lane: 3, from: 0, to: 1, name: "relu" } });
  wait(300);
  assert.equal(entries.length, 2);
  act(() => viewer.openPage("charts"));
  assert.equal(entries.length, 3);
});

test("the strongest change decides", () => {
  const { state } = viewerOf("drawn");
  const between = (change: StateChange) => changeBetween(alone(state), alone(changed(state, change))).change;
  assert.equal(between({ page: "tables", view: { from: 1, to: 20 }, timeline: { filter: "x" } }), "step");
  assert.equal(between({ view: { from: 1, to: 20 }, timeline: { filter: "x" } }), "text");
  assert.equal(between({ view: { from: 1, to: 20 } }), "view");
  assert.equal(between({ problem: "x", view: { ...state.view } }), null);
});
