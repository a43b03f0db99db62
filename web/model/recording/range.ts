// Stretches of time and events, as every part of the viewer refers to them, and the arithmetic of windows.

export interface Range {
  from: number; // ns
  to: number;
}

/** A row of a table and the place of its slice; lane null: not drawn. */
export interface Selection {
  table: string;
  row: number;
  lane: number | null;
  from: number;
  to: number;
  name: string;
}

const MIN_WINDOW_NS = 10;

/** A window inside `bounds`, at least `min` ns long, that keeps its length if possible. */
export function clampRange(range: Range, bounds: Range, min = MIN_WINDOW_NS): Range {
  const whole = Math.max(bounds.to - bounds.from, min);
  const span = Math.min(Math.max(range.to - range.from, min), whole);
  const from = Math.min(Math.max(range.from, bounds.from), bounds.from + whole - span);
  return { from, to: from + span };
}

export const shifted = (range: Range, by: number): Range => ({ from: range.from + by, to: range.to + by });

/** The shortest range that contains both. */
export const union = (a: Range, b: Range): Range => ({ from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) });

/** The window after zooming by `wanted` (below 1: closer) around a time that keeps its place on screen. */
export function zoomed(view: Range, wanted: number, anchor: number, min = MIN_WINDOW_NS): Range {
  const factor = Math.max(wanted, Math.min(1, min / (view.to - view.from)));
  return { from: anchor - (anchor - view.from) * factor, to: anchor + (view.to - anchor) * factor };
}

/** A window that shows a range with a margin on both sides. */
export function around(range: Range, room = 0.4): Range {
  const span = Math.max(range.to - range.from, 1);
  return { from: range.from - span * room, to: range.to + span * room };
}
