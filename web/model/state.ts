// What the viewer shows, as one immutable value: page, window, selection, measured range, highlighted names, and what
// the person did to tracks. Every page reads it and changes it through Viewer (viewer.ts); a permalink is its text.

import type { Marks } from "./marks.ts";

export interface Range {
  from: number; // ns
  to: number;
}

/** A row of a table and where its slice is; lane null: it is not drawn. */
export interface Selection {
  table: string;
  row: number;
  lane: number | null;
  from: number;
  to: number;
  name: string;
}

/** A table of the report and, when one is meant, its row. */
export interface TableChoice {
  name: string;
  row: number | null;
}

export const PAGES = ["comparison", "overview", "timeline", "tables", "pictures"] as const;
export type PageName = (typeof PAGES)[number];

export interface State {
  page: PageName;
  view: Range;
  selection: Selection | null;
  range: Range | null; // measured
  highlight: ReadonlySet<number> | null; // names in Strings; null: nothing is highlighted
  marks: Marks | null; // where highlighted events begin, once that is known
  unmarked: number; // highlighted events, where they are too many for marks; else 0
  collapsed: ReadonlySet<number>; // tracks
  hidden: ReadonlySet<number>;
  pinned: readonly number[]; // in the order on screen
  order: readonly number[]; // tracks that were moved, see layout/tracks.ts
  filter: string; // of track names
  table: TableChoice | null; // what the page of tables shows
  aligned: number; // pair of steps that a comparison lays on top of each other
  kernel: string | null; // the kernel whose durations the page of pictures shows
  problem: string | null;
}

const LEAST = 10; // ns of a window

/** A window inside `reach`, at least `least` ns long, that keeps its length where it can. */
export function clampRange(range: Range, reach: Range, least = LEAST): Range {
  const whole = Math.max(reach.to - reach.from, least);
  const span = Math.min(Math.max(range.to - range.from, least), whole);
  const from = Math.min(Math.max(range.from, reach.from), reach.from + whole - span);
  return { from, to: from + span };
}

export const shifted = (range: Range, by: number): Range => ({ from: range.from + by, to: range.to + by });

/** The shortest that holds both. */
export const union = (a: Range, b: Range): Range => ({ from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) });

/** The window after zooming by `wanted` (below 1: closer) around a moment that stays where it is on screen. */
export function zoomed(view: Range, wanted: number, anchor: number, least = LEAST): Range {
  const factor = Math.max(wanted, Math.min(1, least / (view.to - view.from)));
  return { from: anchor - (anchor - view.from) * factor, to: anchor + (view.to - anchor) * factor };
}

/** A window that shows a range with some room on both sides. */
export function around(range: Range, room = 0.4): Range {
  const span = Math.max(range.to - range.from, 1);
  return { from: range.from - span * room, to: range.to + span * room };
}
