// Pages of kernels with counters: rows of the report, the memory chart, the roofline, occupancy, links.

import assert from "node:assert/strict";
import test from "node:test";
import { describe, memoryPicture } from "../layout/memory_picture.ts";
import { countersOf, sumOf } from "../model/kernel/counters.ts";
import { piecesOf } from "../model/table/handles.ts";
import { kernelRooflineOf } from "../model/kernel/kernel_roofline.ts";
import { measuredKernels, reasonOf, rowOfKernel } from "../model/kernel/measured_kernels.ts";
import { hasTraffic, memoryChartOf } from "../model/kernel/memory_chart.ts";
import { occupancyOf } from "../model/kernel/occupancy.ts";
import { occupancyCurvesOf, stepsOf } from "../model/kernel/occupancy_curves.ts";
import { linkOf, readLink } from "../model/page/permalink.ts";
import { tableOf } from "../model/recording/report.ts";
import { canShowRow, showRow } from "../model/table/row_navigation.ts";
import { orderedLines, reasonsOf, sourceLinesOf } from "../model/kernel/source_lines.ts";
import { Viewer } from "../model/page/viewer.ts";
import { alone, opened } from "./opened.ts";

async function open() {
  const recording = opened("counters");
  const report = await recording.report();
  const tables = await recording.kernel(0);
  const table = (name: string) => tables.find((each) => each.name === name) ?? null;
  return { recording, report, table, counters: countersOf(table("metrics")) };
}

test("a kernel has its row, its sentence and its tables", async () => {
  const { recording, report, table } = await open();
  const kernels = measuredKernels(report);
  assert.deepEqual(kernels.map(({ handle, launch }) => [handle, launch]), [["k-2", 7], ["k-2", 9], ["k-3", 11]]);
  assert.equal(reasonOf(kernels[0]!), "device memory is busy 71 % of its peak");
  assert.equal(table("stalls")!.rows.length, 3);
  assert.deepEqual(await recording.kernel(2), []);
  assert.deepEqual(await recording.kernel(99), []);
});

test("the memory chart has what was collected and nothing else", async () => {
  const { counters } = await open();
  const chart = memoryChartOf(counters);
  assert.deepEqual(chart.loads, { bytes: 2 ** 21, count: 16384 });
  assert.deepEqual(chart.stores, { bytes: 0, count: null });
  assert.deepEqual([chart.written, chart.shared, chart.local, chart.atomics], [null, null, null, null]);
  assert.deepEqual(chart.units.L2, { busy_pct: 33.3, hit_pct: 25, bytes_per_s: null });
  assert.deepEqual(chart.units.DRAM, { busy_pct: 50, hit_pct: null, bytes_per_s: 2e12 });
  const picture = memoryPicture(chart, "DRAM-bound");
  const links = picture.links.map(({ above, below }) => [above, below]);
  const loads = ["loads: 2.00 MiB", "4.0 sectors per request"];
  assert.deepEqual(links, [loads, ["stores: none", ""], ["read: 1.00 MiB", ""]]);
  assert.deepEqual(picture.boxes.filter(({ isLimit }) => isLimit).map(({ name }) => name), ["Device memory"]);
  assert.match(describe(picture), /Device memory \(limits the kernel\): 2.00 TB\/s, 50.0 % of peak\./);
  assert.equal(hasTraffic(chart), true);
  assert.equal(hasTraffic(memoryChartOf(new Map([["launch__block_size", 128]]))), false);
});

test("a sum needs all of its counters", () => {
  const counters = new Map([["a", 1], ["b", 2]]);
  assert.deepEqual([sumOf(counters, "a", "b"), sumOf(counters, "a", "c")], [3, null]);
});

test("the roofline has a point per level, and occupancy names the lowest limit first", async () => {
  const { table, counters } = await open();
  const { points, roofs, slopes } = kernelRooflineOf(table("roofline"));
  const figures = points.map(({ level, intensity, of_roof_pct }) => [level, intensity, of_roof_pct]);
  assert.deepEqual(figures, [["DRAM", 0.25, 50], ["L2", 0.125, 40]]);
  assert.deepEqual([[...roofs], [...slopes]], [[["FP32", 6e13]], [["DRAM", 4e12], ["L2", 1e13]]]);
  const { theoretical_pct, achieved_pct, limits } = occupancyOf(counters);
  assert.deepEqual([theoretical_pct, achieved_pct], [50, null]);
  assert.deepEqual(limits.map(({ resource }) => resource), ["registers", "warp slots"]);
});

test("rows and handles lead to the page of their kernel", async () => {
  const { recording, report } = await open();
  const viewer = new Viewer(recording);
  const limits = tableOf(report, "limits")!;
  const stalls = (await recording.kernel(0)).find((each) => each.name === "stalls")!;
  assert.deepEqual([rowOfKernel(report, limits, 1), rowOfKernel(report, stalls, 2)], [1, 0]);
  assert.equal(rowOfKernel(report, tableOf(report, "kernels")!, 0), null);
  assert.equal(canShowRow(recording, limits), true);
  await showRow(viewer, report, limits, 1);
  assert.deepEqual([viewer.state.page, viewer.state.kernels.launch], ["kernels", 9]);
  assert.equal(readLink(linkOf(alone(viewer.state))).shown["kernels.launch"], 9);
  // k-2 is on the timeline; k-3 has only counters.
  const pieces = piecesOf(report, "k-2, k-3, k-4").flatMap(({ to }) => (to === null ? [] : [[to.table.name, to.row]]));
  assert.deepEqual(pieces, [["kernels", 1], ["limits", 2]]);
});

test("occupancy curves have the kernel's own point and what raises it", async () => {
  const { table } = await open();
  const [threads, registers, ...others] = occupancyCurvesOf(table("occupancy_curves"));
  assert.deepEqual([threads!.resource, registers!.resource, others], ["threads", "registers", []]);
  assert.deepEqual([threads!.own.value, threads!.raised_by], [128, "blocks of 64 threads: 75.0 %"]);
  assert.deepEqual([registers!.own.value, registers!.raised_by, registers!.points[1]!.occupancy_pct], [32, null, null]);
  assert.deepEqual(stepsOf(threads!).map(({ value }) => value), [64, 128, 256]); // the own point stays
  assert.deepEqual(occupancyCurvesOf(null), []);
});

test("source lines have their reasons, in order of share or line", async () => {
  const { table } = await open();
  const lines = sourceLinesOf(table("source"), table("line_stalls"));
  const reasons = lines.map(({ key, stalls }) => [key, stalls.map(({ reason }) => reason)]);
  const ninth = ["/src/relu.cu:9", ["long_scoreboard", "selected"]];
  assert.deepEqual(reasons, [ninth, ["/src/relu.cu:7", ["wait"]], ["", []]]);
  assert.deepEqual(orderedLines(lines, "line").map(({ line }) => line), [7, 9, null]);
  assert.deepEqual(orderedLines(lines, "share").map(({ line }) => line), [9, 7, null]);
  assert.deepEqual(reasonsOf(lines), ["long_scoreboard", "selected", "wait"]);
  assert.deepEqual([lines[0]!.figures.sectors, lines[1]!.figures.sectors, lines[2]!.samples], [4096, null, null]);
});

test("a row about a source line leads to the line on the page of its kernel", async () => {
  const { recording, report, table } = await open();
  const viewer = new Viewer(recording);
  assert.equal(canShowRow(recording, table("source")!), true);
  const chosen = () => ["launch", "sampled", "line"].map((name) => viewer.state.kernels[name as "line"]);
  await showRow(viewer, report, table("source")!, 0);
  assert.deepEqual(chosen(), [7, null, "/src/relu.cu:9"]);
  const scan = (await recording.kernel(3)).find(({ name }) => name === "line_stalls")!;
  await showRow(viewer, report, scan, 0);
  assert.deepEqual(chosen(), [null, "scan", "/src/scan.cu:3"]);
  const { shown } = readLink(linkOf(alone(viewer.state)));
  assert.deepEqual([shown["kernels.sampled"], shown["kernels.line"]], ["scan", "/src/scan.cu:3"]);
});
