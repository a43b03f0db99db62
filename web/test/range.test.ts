// What happened in a range: counted by hand, and against adding up every event. Trees of calls over it; kept ranges.

import assert from "node:assert/strict";
import { test } from "node:test";
import { flameBoxes } from "../layout/flame_boxes.ts";
import { callees, callers, matchedTime, sandwich, stacksOf, type CallNode } from "../model/range/call_tree.ts";
import { keptText, readKept, withNote, withoutRange, withRange } from "../model/range/kept_ranges.ts";
import { plainName } from "../model/recording/plain_name.ts";
import { answerOf } from "../model/range/range_answer.ts";
import { tablesOf } from "../model/range/range_tables.ts";
import type { Recording } from "../model/recording/recording.ts";
import { buildDocument, type DocumentInput, type Event } from "./document.ts";
import { open, opened } from "./opened.ts";

const ALL = { from: 0, to: 100_000 };

const drawn = () => opened("drawn");

test("a range, counted by hand", async () => {
  const answer = await answerOf(drawn(), { from: 22_000, to: 85_000 });
  const { kernels, copies, operators, calls } = tablesOf(answer);
  const brief = (rows: typeof kernels) =>
    rows.map(({ name, count, total_ns, self_ns }) => [name, count, total_ns / 1000, self_ns / 1000]);
  assert.deepEqual(brief(kernels), [["relu", 1, 10, 10], ["void gemm<128, float>(float*, int)", 1, 8, 8]]);
  assert.deepEqual(brief(copies), [["HtoD", 1, 15, 15]]);
  assert.deepEqual(copies[0]!.bytes, 1 << 20);
  assert.deepEqual(brief(operators), [["step 1", 1, 63, 59]]); // without two calls of 2 us
  const called = calls.map(({ name, thread, count, total_ns }) => [name, thread, count, total_ns]);
  assert.deepEqual(called, [["cudaLaunchKernel", "main", 2, 4000]]);
  const idle = answer.idle.map(({ device, cause, ns }) => [device, cause, ns]);
  assert.deepEqual(idle, [[0, "input pipeline", 20_000], [0, "launch", 15_000]]);
});

test("the bytes of a copy count by its part in the range; an event without length counts where it starts", async () => {
  const { copies } = tablesOf(await answerOf(drawn(), { from: 0, to: 28_000 }));
  assert.equal(copies[0]!.bytes, (1 << 20) / 5);
  const lanes = [{ track: 0, table: "op", events: [{ start: 50, dur: 0, name: "a" }] }];
  const built = buildDocument({ window_ns: 100, tracks: [{ parent: -1, kind: "thread", name: "t" }], lanes });
  const counts = async (from: number, to: number) =>
    tablesOf(await answerOf(open(built), { from, to })).operators.map(({ count }) => count);
  assert.deepEqual([await counts(50, 60), await counts(40, 50), await counts(0, 100)], [[1], [], [1]]);
});

/** 30,000 operators on four chunks, a third of them inside another, with or without recorded stacks. */
function long(hasStacks: boolean): { outer: Event[]; inner: Event[]; recording: Recording } {
  const outer: Event[] = [];
  const inner: Event[] = [];
  for (let i = 0, at = 0; i < 20_000; i++) {
    const dur = 5 + ((i * 7919) % 23);
    outer.push({ start: at, dur, name: `op${i % 5}`, row: i, ...(hasStacks ? { frame: 1 + (i % 5) } : {}) });
    if (i % 2 === 0)
      inner.push({ start: at + 1, dur: dur - 3, name: "op0", row: i, ...(hasStacks ? { frame: 6 + (i % 5) } : {}) });
    at += dur + ((i * 31) % 10);
  }
  const names = [0, 1, 2, 3, 4];
  const frames = [
    { name: "t" }, ...names.map((i) => ({ parent: 0, table: "op", name: `op${i}` })),
    ...names.map((i) => ({ parent: 1 + i, table: "op", name: "op0" })),
  ];
  const last = outer[outer.length - 1]!;
  const input: DocumentInput = {
    window_ns: last.start + last.dur,
    tracks: [{ parent: -1, kind: "thread", name: "t" }],
    lanes: [{ track: 0, table: "op", events: outer }, { track: 0, y: 1, table: "op", events: inner }],
    ...(hasStacks ? { frames } : {}),
  };
  return { outer, inner, recording: open(buildDocument(input)) };
}

test("a range agrees with adding up every event, with and without recorded sums", async () => {
  for (const { outer, inner, recording } of [long(true), long(false)])
    for (const [from, to] of [[0, 1e9], [1000, 1001], [90_000, 200_000], [123_456, 322_222], [0, 0]] as const) {
      const part = (e: Event) => Math.max(0, Math.min(e.start + e.dur, to) - Math.max(e.start, from));
      const { operators } = tablesOf(await answerOf(recording, { from, to }));
      for (const name of ["op1", "op2"]) {
        const mine = outer.filter((e) => e.name === name && part(e) > 0);
        const row = operators.find((each) => each.name === name);
        const total = mine.reduce((sum, e) => sum + part(e), 0);
        assert.deepEqual([row?.count ?? 0, row?.total_ns ?? 0], [mine.length, total]);
      }
      const zeros = [...outer, ...inner].filter((e) => e.name === "op0" && part(e) > 0).length;
      assert.equal(operators.find((each) => each.name === "op0")?.count ?? 0, zeros);
    }
});

test("recursion counts once in the total; self times add up to the outer events", async () => {
  const { outer, inner, recording } = long(true);
  const { operators } = tablesOf(await answerOf(recording, { from: 0, to: 1e9 }));
  const time = (events: Event[]) => events.reduce((sum, e) => sum + e.dur, 0);
  const isNested = (e: Event) => outer[e.row!]!.name === "op0";
  const zero = operators.find((each) => each.name === "op0")!;
  assert.equal(zero.total_ns, time(outer.filter((e) => e.name === "op0")) + time(inner.filter((e) => !isNested(e))));
  assert.equal(operators.reduce((sum, each) => sum + each.self_ns, 0), time(outer));
});

/** path: [count, total us, self us] of every node. */
function flat(node: CallNode, path = "", out: Record<string, number[]> = {}): Record<string, number[]> {
  out[path || "/"] = [node.count, node.total / 1000, node.self / 1000];
  for (const child of node.children.values()) flat(child, `${path}/${child.name}`, out);
  return out;
}

test("trees of host, device and idle time", async () => {
  const answer = await answerOf(drawn(), ALL);
  const host = flat(callees(stacksOf(answer, "host", true)));
  assert.deepEqual(host["/main/step 1"], [1, 90, 78]); // without 8 us of aten::mm, and two calls of 2 us outside it
  assert.deepEqual(host["/main/step 1/aten::mm/cudaLaunchKernel"], [1, 2, 2]);
  const outer = [host["/main/step 1/cudaLaunchKernel"], host["/main"], host["/"]];
  assert.deepEqual(outer, [[2, 4, 4], [0, 90, 0], [0, 90, 0]]);
  const device = flat(callees(stacksOf(answer, "device", true)));
  assert.deepEqual(device["/main/step 1/aten::mm/cudaLaunchKernel/void gemm<128, float>(float*, int)"], [1, 10, 10]);
  assert.deepEqual([device["/main"], device["/HtoD"], device["/"]], [[0, 30, 0], [1, 15, 15], [0, 45, 0]]);
  const idle = flat(callees(stacksOf(answer, "idle", true)));
  const causes = ["/main/input pipeline", "/main/step 1/input pipeline", "/main/step 1/launch"];
  assert.deepEqual(causes.map((path) => idle[path]), [[1, 20, 20], [1, 20, 20], [2, 20, 20]]);
});

test("inverted trees and sandwiches keep the total", async () => {
  const stacks = stacksOf(await answerOf(drawn(), ALL), "device", true);
  const up = flat(callers(stacks));
  const gemm = "/void gemm<128, float>(float*, int)";
  assert.deepEqual([up["/"], up[gemm], up[`${gemm}/cudaLaunchKernel/aten::mm`]], [[0, 45, 0], [0, 20, 0], [0, 10, 0]]);
  const around = sandwich(stacks, "api_call", "cudaLaunchKernel");
  assert.deepEqual(flat(around.callees), { "/": [0, 30, 0], [gemm]: [2, 20, 20], "/relu": [1, 10, 10] });
  assert.deepEqual(flat(around.callers)["/step 1/main"], [0, 20, 20]);
  assert.equal(around.callers.total, around.callees.total);
  assert.equal(matchedTime(stacks, (name) => name === "aten::mm" || name === "relu"), 20_000);
});

test("without Python functions, their time is their callers'", async () => {
  const built = buildDocument({
    window_ns: 100,
    tracks: [{ parent: -1, kind: "thread", name: "t" }],
    lanes: [
      { track: 0, table: "op", events: [{ start: 0, dur: 100, name: "a", frame: 1 }] },
      { track: 0, y: 1, table: "python_call", events: [{ start: 10, dur: 50, name: "f.py(1): f", frame: 2 }] },
      { track: 0, y: 2, table: "op", events: [{ start: 20, dur: 10, name: "b", frame: 3 }] },
    ],
    frames: [
      { name: "t" }, { parent: 0, table: "op", name: "a" }, { parent: 1, table: "python_call", name: "f.py(1): f" },
      { parent: 2, table: "op", name: "b" },
    ],
  });
  const answer = await answerOf(open(built), { from: 0, to: 100 });
  const trees = [true, false].map((python) => flat(callees(stacksOf(answer, "host", python))));
  assert.deepEqual(trees[0]!["/t/a/f.py(1): f"], [1, 0.05, 0.04]);
  assert.deepEqual([trees[1]!["/t/a"], trees[1]!["/t/a/b"]], [[1, 0.1, 0.09], [1, 0.01, 0.01]]);
});

test("boxes are as wide as their share, largest first; boxes too narrow are counted", async () => {
  const all = stacksOf(await answerOf(drawn(), ALL), "device", true);
  const stacks = all.filter(({ frames }) => frames[0]!.name === "main");
  const flame = flameBoxes(callees(stacks), 300);
  assert.deepEqual(
    flame.boxes.map(({ node, x, width, depth }) => [node.name.slice(0, 9), Math.round(x), Math.round(width), depth]),
    [
      ["all threa", 0, 300, 0], ["main", 0, 300, 1], ["step 1", 0, 300, 2], ["cudaLaunc", 0, 200, 3],
      ["relu", 0, 100, 4], ["void gemm", 100, 100, 4], ["aten::mm", 200, 100, 3], ["cudaLaunc", 200, 100, 4],
      ["void gemm", 200, 100, 5],
    ],
  );
  assert.deepEqual([flame.depth, flame.hidden, flameBoxes(callees(stacks), 4).hidden], [6, 0, 3]);
});

test("a damaged document: frames that are their own parent, sums of unknown frames", async () => {
  const tracks = [{ parent: -1, kind: "thread", name: "t" }];
  const frames = [{ parent: 0, table: "op", name: "a" }];
  const withFrame = (frame: number) => {
    const lanes = [{ track: 0, table: "op", events: [{ start: 0, dur: 5, name: "a", frame }] }];
    return open(buildDocument({ window_ns: 10, tracks, frames, lanes }));
  };
  const own = await answerOf(withFrame(0), { from: 0, to: 10 });
  assert.deepEqual(flat(callees(stacksOf(own, "host", true)))["/a"], [1, 0.005, 0.005]);
  const unknown = withFrame(7);
  await assert.rejects(answerOf(unknown, { from: 0, to: 10 }), /call stacks/);
});

test("names without the numbers of their instances", () => {
  assert.deepEqual(["step#12", "aten::add, op_id = 7", "a#b", "#1"].map(plainName), ["step*", "aten::add", "a#b", "*"]);
});

test("kept ranges have the lowest free number, and survive the address", () => {
  let kept = withRange(withRange([], { from: 1.2, to: 5 }), { from: 7, to: 9 });
  assert.deepEqual(withRange(kept, { from: 1, to: 5 }), kept);
  kept = withNote(withRange(withoutRange(kept, 1), { from: 20, to: 30 }), 1, "slow; 50 % of it: why?");
  assert.deepEqual(kept.map(({ number, from, to }) => [number, from, to]), [[1, 20, 30], [2, 7, 9]]);
  assert.deepEqual(readKept(keptText(kept)), kept);
  assert.deepEqual(readKept("x;1:5-4:;2:1-2:%;2:3-4:;3:1-2"), [{ number: 2, from: 1, to: 2, note: "%" }]);
});
