// The state of the viewer as one immutable value: page, window, selection, measured range, search, highlighted names,
// and the user's changes to tracks. Every page reads it and changes it through Viewer (viewer.ts); the address is its
// text form (permalink.ts).

import type { HeatWindow } from "../job/heat_window.ts";
import type { RowOrder } from "../job/job_order.ts";
import type { Drawer } from "../range/drawer.ts";
import type { FlameShape } from "../range/flame_shape.ts";
import type { KeptRanges } from "../range/kept_ranges.ts";
import type { Marks } from "../search/marks.ts";
import type { Name } from "../search/search.ts";
import type { EventFilter } from "../search/search_query.ts";
import type { TableShape } from "../table/table_shape.ts";

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

/** A table of the report and, if one is chosen, its row. */
export interface TableChoice {
  name: string;
  row: number | null;
}

/** A track to go to; going there again is another choice. */
export interface TrackChoice {
  id: number;
}

export const PAGES = [
  "comparison", "job", "overview", "timeline", "steps", "kernels", "tables", "charts", "sql",
] as const;
export type PageName = (typeof PAGES)[number];

export interface State {
  page: PageName;
  view: Range;
  jumps: number; // of the window that are steps in the history, so far
  selection: Selection | null;
  range: Range | null; // measured
  kept: KeptRanges;
  search: string; // its text
  highlighted: readonly string[]; // names that were chosen; they come before those that the search finds
  highlight: ReadonlySet<number> | null; // names in Strings, of `highlighted` or `search`; null: no highlight
  marks: Marks | null; // where highlighted events start, once known
  matches: readonly Name[] | null; // what the search finds; null: no search, or its events are not counted yet
  eventFilter: EventFilter | null; // of the search, for single events
  unmarkedEvents: number; // number of highlighted events if too many for marks, otherwise 0
  collapsed: ReadonlySet<number>; // tracks
  hidden: ReadonlySet<number>;
  pinned: readonly number[]; // in display order
  order: readonly number[]; // tracks that were moved, see layout/tracks.ts
  filter: string; // of track names
  track: TrackChoice | null; // that the timeline went to
  table: TableChoice | null; // the table on the tables page
  differences: string | null; // the table of differences of a comparison; null: kernels
  differenceShape: TableShape; // of that table
  compared: readonly [a: string, b: string]; // keys of entries on the steps page
  ownStep: string | null; // key of the entry shown instead of the pair's, in a comparison
  tableShape: TableShape; // its filter, order, grouping and hidden columns
  aligned: number; // pair of steps at which a comparison is aligned
  kernel: string | null; // the kernel whose durations the charts page shows
  launch: number | null; // that stands for the kernel on the kernels page
  sampled: string | null; // the kernel on the kernels page, if it has samples only
  line: string | null; // FILE:LINE, of the kernel on the kernels page
  counterShape: TableShape; // of the counters on the kernels page
  drawer: Drawer; // of the measured range
  flame: FlameShape;
  flameSearch: string;
  criticalPath: boolean; // marked on the timeline
  launchArrows: boolean; // from calls to the work of the measured range
  jobRank: number | null; // the selected cell of a job: numbers of a rank and a step
  jobStep: number | null;
  quantity: string | null; // of its cells; null: the first
  rowOrder: RowOrder; // of its ranks
  heat: HeatWindow | null; // the part of its heat map that is shown; null: all
  sql: string; // in the SQL box
  answer: { ranges: readonly Range[] } | null; // rows of an SQL answer on the timeline, ascending
  problem: string | null;
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
