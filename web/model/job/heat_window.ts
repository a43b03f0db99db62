// The part of a job's heat map that is shown: ranks by their place in the display order, and steps by their index, ends
// excluded. It is whole cells, stays inside the job, and never shows fewer than LEAST of either, if there are as many.

import type { Range } from "../recording/range.ts";

export interface HeatWindow {
  ranks: Range;
  steps: Range;
}

/** Places between cells may be fractions, as below a pointer. */
export interface HeatPoint {
  place: number; // of a rank
  step: number;
}

const LEAST = 4;

const AXES = [["ranks", "place"], ["steps", "step"]] as const;

function byAxis(of: (axis: "ranks" | "steps", point: "place" | "step") => Range): HeatWindow {
  const [ranks, steps] = AXES.map(([axis, point]) => of(axis, point)) as [Range, Range];
  return { ranks, steps };
}

export const wholeHeat = (ranks: number, steps: number): HeatWindow =>
  ({ ranks: { from: 0, to: ranks }, steps: { from: 0, to: steps } });

const sizeOf = ({ from, to }: Range): number => to - from;

export const contains = ({ from, to }: Range, at: number): boolean => at >= from && at < to;

/** A range of whole cells of a wanted size inside 0 to `count`. */
function fitted(from: number, size: number, count: number): Range {
  const kept = Math.min(count, Math.max(Math.round(size), LEAST));
  const start = Math.min(Math.max(Math.round(from), 0), count - kept);
  return { from: start, to: start + kept };
}

/** What can be shown of a wanted window; the whole job for null. */
export function heatIn(wanted: HeatWindow | null, whole: HeatWindow): HeatWindow {
  return wanted === null ? whole : byAxis((axis) => fitted(wanted[axis].from, sizeOf(wanted[axis]), whole[axis].to));
}

/** null: the whole job. */
export function partOf(window: HeatWindow, whole: HeatWindow): HeatWindow | null {
  const isWhole = AXES.every(([axis]) => sizeOf(window[axis]) === sizeOf(whole[axis]));
  return isWhole ? null : window;
}

/** Zooms both axes by a factor (below 1: closer) around a point that keeps its place. */
export function zoomedHeat(window: HeatWindow, whole: HeatWindow, factor: number, at: HeatPoint): HeatWindow {
  return byAxis((axis, point) => {
    const { from, to } = window[axis];
    const wanted = (to - from) * factor;
    const size = factor < 1 ? Math.floor(wanted) : Math.ceil(wanted); // moves even if a cell is all that it moves by
    const kept = Math.min(whole[axis].to, Math.max(size, LEAST));
    return fitted(at[point] - ((at[point] - from) * kept) / (to - from), kept, whole[axis].to);
  });
}

export function movedHeat(window: HeatWindow, whole: HeatWindow, by: HeatPoint): HeatWindow {
  return byAxis((axis, point) => fitted(window[axis].from + by[point], sizeOf(window[axis]), whole[axis].to));
}

/** The cells that a box between two points touches. */
export function heatBetween(a: HeatPoint, b: HeatPoint, whole: HeatWindow): HeatWindow {
  return byAxis((axis, point) => {
    const [from, to] = [Math.min(a[point], b[point]), Math.max(a[point], b[point])];
    const [first, end] = [Math.max(0, Math.floor(from)), Math.min(whole[axis].to, Math.ceil(to))];
    const missing = Math.max(0, LEAST - (end - first)); // shown on both sides of a smaller box
    return fitted(first - Math.floor(missing / 2), end - first, whole[axis].to);
  });
}

/** The window moved as little as shows a cell. */
export function heatWith(window: HeatWindow, whole: HeatWindow, cell: HeatPoint): HeatWindow {
  return byAxis((axis, point) => {
    const { from, to } = window[axis];
    const by = cell[point] < from ? cell[point] - from : Math.max(0, cell[point] + 1 - to);
    return fitted(from + by, to - from, whole[axis].to);
  });
}

export const heatText = ({ ranks, steps }: HeatWindow): string => `${ranks.from}-${ranks.to},${steps.from}-${steps.to}`;

export function readHeat(text: string): HeatWindow | null {
  const found = /^(\d{1,9})-(\d{1,9}),(\d{1,9})-(\d{1,9})$/.exec(text);
  if (found === null) return null;
  const [a, b, c, d] = found.slice(1).map(Number) as [number, number, number, number];
  return a < b && c < d ? { ranks: { from: a, to: b }, steps: { from: c, to: d } } : null;
}
