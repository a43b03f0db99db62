// The state of the viewer as one immutable value: what all pages share (window, selection, measured range, search), and
// what each page keeps for itself. Every page reads it and changes it through Viewer (viewer.ts); the address is its
// text form (permalink.ts).

import type { HeatWindow } from "../job/heat_window.ts";
import type { RowOrder } from "../job/job_order.ts";
import { USUAL_DRAWER } from "../range/drawer.ts";
import { WHOLE_FLAME } from "../range/flame_shape.ts";
import type { KeptRanges } from "../range/kept_ranges.ts";
import type { Range, Selection } from "../recording/range.ts";
import { NO_HIGHLIGHT } from "../search/highlight.ts";
import { PLAIN } from "../table/table_shape.ts";
import type { Progress } from "../../read/preparation.ts";

export const PAGES = [
  "comparison", "job", "overview", "timeline", "phases", "steps", "kernels", "tables", "charts", "sql",
] as const;
export type PageName = (typeof PAGES)[number];

/** A table of the report and, if one is chosen, its row. */
interface TableChoice {
  name: string;
  row: number | null;
}

/** A track to go to; going there again is another choice. */
export interface TrackChoice {
  id: number;
}

const NONE: ReadonlySet<number> = new Set();

/** What the pages keep for themselves, at first. */
const OF_PAGES = {
  comparison: {
    differences: null as string | null, // the table of differences; null: kernels
    shape: PLAIN, // of that table
    ownStep: null as string | null, // key of the entry shown instead of the pair's
    aligned: 0, // pair of steps
  },
  job: {
    rank: null as number | null, // of the selected cell, and its step: their numbers
    step: null as number | null,
    quantity: null as string | null, // of the cells; null: the first
    order: "rank" as RowOrder,
    heat: null as HeatWindow | null, // the part of the heat map that is shown; null: all
  },
  timeline: {
    collapsed: NONE, // tracks
    hidden: NONE,
    pinned: [] as readonly number[], // in display order
    order: [] as readonly number[], // tracks that were moved, see layout/tracks.ts
    filter: "", // of track names
    track: null as TrackChoice | null, // that the timeline went to
    criticalPath: false, // marked
    launchArrows: false, // from calls to the work of the measured range
  },
  steps: {
    compared: ["fastest", "slowest"] as readonly [a: string, b: string], // keys of entries
  },
  kernels: {
    launch: null as number | null, // that stands for the kernel
    sampled: null as string | null, // the kernel, if it has samples only
    line: null as string | null, // FILE:LINE, of the kernel
    counters: PLAIN,
  },
  tables: {
    table: null as TableChoice | null,
    shape: PLAIN, // its filter, order, grouping and hidden columns
  },
  charts: {
    kernel: null as string | null, // whose durations are shown
  },
  sql: {
    text: "",
    answer: null as { ranges: readonly Range[] } | null, // its rows on the timeline, ascending
  },
};

const SHARED = {
  jumps: 0, // of the window that are steps in the history, so far
  selection: null as Selection | null,
  range: null as Range | null, // measured
  kept: [] as KeptRanges,
  drawer: USUAL_DRAWER, // of the measured range
  flame: WHOLE_FLAME,
  flameSearch: "",
  search: "", // its text
  highlighted: [] as readonly string[], // names that were chosen; they come before those that the search finds
  found: NO_HIGHLIGHT, // of `highlighted` or `search`
  problem: null as string | null,
  answer: null as Progress | "ready" | null, // of a page that was opened before it was there; null: as usual
};

export type State = { page: PageName; view: Range } & typeof SHARED & typeof OF_PAGES;

/** What changes: values that all pages share, and some of those of a page. */
export type StateChange =
  { [K in keyof State]?: K extends keyof typeof OF_PAGES ? Partial<State[K]> : State[K] };

export const firstState = (page: PageName, view: Range): State => ({ page, view, ...SHARED, ...OF_PAGES });

export function changed(state: State, change: StateChange): State {
  const parts = Object.entries(change).map(([key, value]) =>
    [key, key in OF_PAGES ? { ...(state[key as keyof State] as object), ...(value as object) } : value]);
  return { ...state, ...Object.fromEntries(parts) };
}
