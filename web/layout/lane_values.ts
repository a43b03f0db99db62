// A counter in one window as a plot: the lowest, mean and highest value in effect in each device pixel. A value holds
// until the next one; before the first value, and where a value is absent, the plot is empty rather than 0.

import { BLOB, levelFor, START } from "../model/recording/lane.ts";
import type { Lane } from "../model/recording/manifest.ts";
import { firstAbove } from "../model/recording/slices.ts";
import type { Range } from "../model/recording/range.ts";
import type { Values } from "../model/recording/values.ts";
import type { Plot } from "./display.ts";
import { amount } from "./time_text.ts";

export interface Extent {
  low: number;
  high: number;
}

type ValuesOf = (blob: number) => Values | null;

/** The axis of a counter, from its coarsest level so that zooming does not change it. Includes 0, and 100 for
    percentages. */
export function extentOf(lane: Lane, valuesOf: ValuesOf): Extent {
  let low = 0;
  let high = lane.unit === "%" ? 100 : 0;
  for (const chunk of lane.levels[lane.levels.length - 1]?.chunks ?? []) {
    const values = valuesOf(chunk[BLOB]);
    if (values === null) continue;
    const extent = extentOfValues(values);
    low = Math.min(low, extent.low);
    high = Math.max(high, extent.high);
  }
  return { low, high: high > low ? high : low + 1 };
}

const known = new WeakMap<Values, Extent>(); // chunks are immutable, and every frame needs the extent

function extentOfValues(values: Values): Extent {
  let extent = known.get(values);
  if (extent === undefined) {
    extent = { low: 0, high: 0 };
    for (let i = 0; i < values.length; i++) {
      if (values.low[i]! < extent.low) extent.low = values.low[i]!;
      if (values.high[i]! > extent.high) extent.high = values.high[i]!;
    }
    known.set(values, extent);
  }
  return extent;
}

export function plotLane(
  lane: Lane, view: Range, pixels: number, top: number, height: number, valuesOf: ValuesOf,
): Plot {
  const { low, high } = extentOf(lane, valuesOf);
  const y = (value: number) => top + height - 2 - ((value - low) / (high - low)) * (height - 6);
  const plot: Plot = {
    top,
    height,
    low: new Float32Array(pixels).fill(NaN),
    mean: new Float32Array(pixels).fill(NaN),
    high: new Float32Array(pixels).fill(NaN),
    band: false,
    axis: [
      { y: y(high), text: amount(high, lane.unit) },
      { y: y(low), text: amount(low, lane.unit) },
    ],
  };
  const last = new Float32Array(pixels);
  const counts = new Uint32Array(pixels);
  const before = gather(lane, view, pixels, valuesOf, plot, counts, last);
  hold(plot, counts, last, before);
  for (const series of [plot.low, plot.mean, plot.high]) for (let x = 0; x < pixels; x++) series[x] = y(series[x]!);
  return plot;
}

/** Adds values to the pixels where they start, with the last value of each pixel; returns the value in effect at the
    left edge. */
function gather(
  lane: Lane, view: Range, pixels: number, valuesOf: ValuesOf, plot: Plot, counts: Uint32Array, last: Float32Array,
): number {
  const scale = pixels / (view.to - view.from);
  const chunks = lane.levels[levelFor(lane, 1 / scale)]?.chunks ?? [];
  let before = NaN;
  chunks.forEach((chunk, i) => {
    const next = chunks[i + 1];
    if (chunk[START] > view.to || (next && next[START] < view.from)) return;
    const values = valuesOf(chunk[BLOB]);
    if (values === null) return;
    const first = Math.max(0, firstAbove(values.time, view.from) - 1);
    for (let k = first; k < values.length && values.time[k]! < view.to; k++) {
      const x = Math.floor((values.time[k]! - view.from) * scale);
      if (x < 0) before = values.value[k]!;
      else if (x < pixels) {
        add(plot, counts[x]!, x, values, k);
        counts[x] = counts[x]! + 1;
        last[x] = values.value[k]!;
      }
    }
  });
  return before;
}

function add(plot: Plot, seen: number, x: number, values: Values, k: number): void {
  const [low, value, high] = [values.low[k]!, values.value[k]!, values.high[k]!];
  if (Number.isNaN(value)) return;
  if (Number.isNaN(plot.mean[x]!)) {
    if (low !== high) plot.band = true;
    [plot.low[x], plot.mean[x], plot.high[x]] = [low, value, high];
    return;
  }
  plot.band = true;
  plot.low[x] = Math.min(plot.low[x]!, low);
  plot.high[x] = Math.max(plot.high[x]!, high);
  plot.mean[x] = plot.mean[x]! + (value - plot.mean[x]!) / (seen + 1);
}

/** Fills pixels where no value starts with the last earlier value. */
function hold(plot: Plot, counts: Uint32Array, last: Float32Array, before: number): void {
  let held = before;
  for (let x = 0; x < plot.mean.length; x++) {
    if (counts[x] === 0) plot.low[x] = plot.mean[x] = plot.high[x] = held;
    else held = last[x]!;
  }
}
