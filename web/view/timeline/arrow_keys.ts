// The arrow keys on the timeline: along a row from event to event, and from row to row at the same time, also into the
// next track. Without a selection they select the first event of the window in the first row that has one.

import { eventRefOf } from "../../model/page/details.ts";
import { eventAt, isTimesOnly, neighbourInRow, rangeOf, rowOf, type SliceRef } from "../../model/recording/lane.ts";
import type { Lane } from "../../model/recording/manifest.ts";
import { NO_ROW } from "../../model/recording/slices.ts";
import { around, type Range } from "../../model/recording/range.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import type { TimelineCanvas } from "./timeline_canvas.ts";

export async function alongRow(timeline: TimelineCanvas, by: 1 | -1): Promise<void> {
  const { viewer } = timeline;
  const { selection } = viewer.state;
  const lane = laneOfSelection(viewer);
  if (!selection || !lane) return selectFirst(timeline);
  const place = { start: selection.from, lane: lane.id, row: selection.row };
  const found = await neighbourInRow(viewer.recording, rowOf(viewer.recording, lane), place, by);
  if (found?.lane.table === "gap") return choose(viewer, found);
  if (found) show(timeline, found);
}

export async function acrossRows(timeline: TimelineCanvas, by: 1 | -1): Promise<void> {
  const { viewer } = timeline;
  const { selection } = viewer.state;
  const lane = laneOfSelection(viewer);
  if (!selection || !lane) return selectFirst(timeline);
  const rows = selectable(timeline);
  const at = rows.findIndex((row) => row.some((each) => each.track === lane.track && each.y === lane.y));
  const further = by > 0 ? rows.slice(at + 1) : rows.slice(0, Math.max(at, 0)).reverse();
  for (const row of further) {
    const found = await eventInRow(viewer, row, selection, lane.track);
    if (found) return choose(viewer, found);
  }
}

type Row = readonly Lane[];

/** Of the same track, the event at the same time; of another one, the nearest that the window shows. */
async function eventInRow(viewer: Viewer, row: Row, { from, to }: Range, track: number): Promise<SliceRef | null> {
  const { view } = viewer.state;
  const isBelow = row[0]!.track === track;
  const near = isBelow ? to - from : view.to - view.from;
  const found = await Promise.all(row.map((lane) => eventAt(viewer.recording, lane, from, near)));
  const away = (each: SliceRef) => Math.max(rangeOf(each).from - from, from - rangeOf(each).to, 0);
  const isVisible = (range: Range) => range.to >= view.from && range.from <= view.to;
  const visible = found.filter((each) => each !== null).filter((each) => isBelow || isVisible(rangeOf(each)));
  return visible.sort((a, b) => away(a) - away(b))[0] ?? null;
}

async function selectFirst(timeline: TimelineCanvas): Promise<void> {
  const { viewer } = timeline;
  const { view } = viewer.state;
  for (const row of selectable(timeline)) {
    const first = await neighbourInRow(viewer.recording, row, { start: view.from, lane: -1, row: NO_ROW }, 1);
    if (first && rangeOf(first).from <= view.to) return choose(viewer, first);
  }
}

/** The rows whose events can be selected: stretches of busy time cannot. */
const selectable = (timeline: TimelineCanvas): Lane[][] =>
  timeline.rows.map((row) => row.filter((lane) => !isTimesOnly(lane))).filter((row) => row.length > 0);

function laneOfSelection({ state, recording }: Viewer): Lane | undefined {
  const lane = state.selection?.lane;
  return lane === null || lane === undefined ? undefined : recording.manifest.lanes[lane];
}

async function choose(viewer: Viewer, found: SliceRef): Promise<void> {
  if (found.lane.table === "gap") return viewer.select("gap", found.slices.row[found.index]!);
  viewer.choose(eventRefOf(viewer.recording, found), true);
}

/** Selects the event, and moves the window only if the event is outside it; keeps the zoom if the event is visible at
    it. */
function show({ viewer, nsPerPixel }: TimelineCanvas, found: SliceRef): void {
  const event = eventRefOf(viewer.recording, found);
  const { view } = viewer.state;
  viewer.choose(event);
  if (event.from >= view.from && event.to <= view.to) return;
  const span = view.to - view.from;
  const middle = (event.from + event.to) / 2;
  const fits = event.to - event.from < span && event.to - event.from > nsPerPixel;
  viewer.set({ view: fits ? { from: middle - span / 2, to: middle + span / 2 } : around(event, 2) });
}
