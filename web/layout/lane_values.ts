// A counter at one window as a plot: for each device pixel the lowest, mean and highest value that held in it. A value
// holds until the next one; before the first and where a value is absent there is nothing, not 0.

import { BLOB, levelFor, START } from "../model/lane.ts";
import type { Lane } from "../model/manifest.ts";
import { firstAbove } from "../model/slices.ts";
import type { Range } from "../model/state.ts";
import type { Values } from "../model/values.ts";
import type { Plot } from "./display.ts";
import { amount } from "./time_text.ts";

export interface Extent {
  low: number;
  high: number;
}

type ValuesOf = (blob: number) => Values | null;

/** The axis of a counter: of its coarsest level, so that it stays while one zooms. 0 is on it, and 100 for percentages. */
export function extentOf(lane: Lane, valuesOf: ValuesOf): Extent {
  let low = 0;
  let high = lane.unit === "%" ? 100 : 0;
  for (const chunk of lane.levels[lane.levels.length - 1]?.chunks ?? []) {
    const values = valuesOf(chunk[BLOB]);
    for (let i = 0; values && i < values.length; i++) {
      if (values.low[i]! < low) low = values.low[i]!;
      if (values.high[i]! > high) high = values.high[i]!;
    }
  }
  return { low, high: high > low ? high : low + 1 };
}

export function plotLane(lane: Lane, view: Range, pixels: number, top: number, height: number, valuesOf: ValuesOf): Plot {
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
  const last = gather(lane, view, pixels, valuesOf, plot);
  hold(plot, last);
  for (const series of [plot.low, plot.mean, plot.high]) for (let x = 0; x < pixels; x++) series[x] = y(series[x]!);
  return plot;
}

/** Puts values into the pixels where they begin; gives the value that holds at the left end. */
function gather(lane: Lane, view: Range, pixels: number, valuesOf: ValuesOf, plot: Plot): number {
  const scale = pixels / (view.to - view.from);
  const level = lane.levels[levelFor(lane, 1 / scale)];
  const counts = new Uint32Array(pixels);
  let before = NaN;
  for (const [i, chunk] of (level?.chunks ?? []).entries()) {
    const next = level!.chunks[i + 1];
    if (chunk[START] > view.to || (next ? next[START] : Infinity) < view.from) continue;
    const values = valuesOf(chunk[BLOB]);
    if (values === null) continue;
    const first = Math.max(0, firstAbove(values.time, view.from) - 1);
    for (let k = first; k < values.length && values.time[k]! < view.to; k++) {
      const x = Math.floor((values.time[k]! - view.from) * scale);
      if (x < 0) {
        before = values.value[k]!;
        continue;
      }
      if (values.low[k] !== values.high[k]) plot.band = true;
      add(plot, counts, x, values, k);
    }
  }
  return before;
}

function add(plot: Plot, counts: Uint32Array, x: number, values: Values, k: number): void {
  if (x >= plot.mean.length) return;
  const seen = counts[x]!;
  const low = values.low[k]!;
  const high = values.high[k]!;
  if (seen > 0) plot.band = true;
  plot.low[x] = seen > 0 ? Math.min(plot.low[x]!, low) : low;
  plot.high[x] = seen > 0 ? Math.max(plot.high[x]!, high) : high;
  plot.mean[x] = seen > 0 ? plot.mean[x]! + (values.value[k]! - plot.mean[x]!) / (seen + 1) : values.value[k]!;
  counts[x] = seen + 1;
}

/** Fills the pixels between values with the value before them. */
function hold(plot: Plot, before: number): void {
  let held = before;
  for (let x = 0; x < plot.mean.length; x++) {
    if (Number.isNaN(plot.mean[x]!)) plot.low[x] = plot.mean[x] = plot.high[x] = held;
    else held = plot.mean[x]!;
  }
}
