// Counters as plots: values hold until the next, merged values keep their extremes, absent values remain holes.

import assert from "node:assert/strict";
import test from "node:test";
import { extentOf, plotLane } from "../layout/lane_values.ts";
import type { Lane } from "../model/recording/manifest.ts";
import type { Values } from "../model/recording/values.ts";

function counter(points: [time: number, value: number][], unit = "W"): { lane: Lane; of: () => Values } {
  const time = Float64Array.from(points, (p) => p[0]);
  const value = Float64Array.from(points, (p) => p[1]);
  const values = { length: points.length, time, value, low: value, high: value, bytes: 0 };
  const events = points.length;
  const levels: Lane["levels"] = [{ resolution_ns: 0, chunks: [[0, events, time[0]!, time[events - 1]!, 0, 0]] }];
  const sample = { table: "sample", label: "power", kind: "value", unit };
  const lane: Lane = { id: 0, track: 0, y: 0, ...sample, events, peak: null, levels };
  return { lane, of: () => values };
}

/** Recovers the values from the heights of a plot of 100 pixels from top 0. */
function back(plot: ReturnType<typeof plotLane>, series: Float32Array, high: number): (number | null)[] {
  const [top, bottom] = [plot.axis[0]!.y, plot.axis[1]!.y];
  return [...series].map((y) => (Number.isNaN(y) ? null : Math.round(((bottom - y) / (bottom - top)) * high)));
}

test("a value holds until the next one; before the first there is no value", () => {
  const { lane, of } = counter([[20, 100], [60, 400]]);
  const plot = plotLane(lane, { from: 0, to: 100 }, 10, 0, 100, of);
  assert.deepEqual(back(plot, plot.mean, 400), [null, null, 100, 100, 100, 100, 400, 400, 400, 400]);
  assert.equal(plot.band, false);
  assert.deepEqual(plot.axis.map((mark) => mark.text), ["400 W", "0 W"]);
});

test("the value from before the window holds in it", () => {
  const { lane, of } = counter([[0, 300], [10, 400], [90, 100]]);
  const plot = plotLane(lane, { from: 50, to: 60 }, 5, 0, 100, of);
  assert.deepEqual(back(plot, plot.mean, 400), [400, 400, 400, 400, 400]);
});

test("a pixel with several values shows lowest, mean and highest", () => {
  const { lane, of } = counter([[0, 0], [1, 400], [2, 200], [5, 100]]);
  const plot = plotLane(lane, { from: 0, to: 10 }, 2, 0, 100, of);
  assert.deepEqual([plot.low, plot.mean, plot.high].map((values) => back(plot, values, 400)[0]), [0, 200, 400]);
  assert.equal(plot.band, true);
  assert.equal(back(plot, plot.mean, 400)[1], 100);
});

test("after a pixel its last value holds, not the mean", () => {
  const { lane, of } = counter([[0, 0], [1, 400], [2, 100]]);
  const plot = plotLane(lane, { from: 0, to: 20 }, 2, 0, 100, of);
  assert.equal(back(plot, plot.mean, 400)[1], 100);
});

test("absent values are holes, not 0", () => {
  const { lane, of } = counter([[0, 100], [4, NaN], [8, 100]]);
  const plot = plotLane(lane, { from: 0, to: 12 }, 3, 0, 100, of);
  assert.deepEqual(back(plot, plot.mean, 100), [100, null, 100]);
});

test("percentages have an axis up to 100; negative values extend the axis downwards", () => {
  const percent = counter([[0, 5]], "%");
  assert.deepEqual(extentOf(percent.lane, percent.of), { low: 0, high: 100 });
  const below = counter([[0, -5], [1, 5]]);
  assert.deepEqual(extentOf(below.lane, below.of), { low: -5, high: 5 });
});
