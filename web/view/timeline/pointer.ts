// Pointer control of the timeline. Wheel scrolls; Ctrl + wheel zooms at the pointer; Shift + wheel or a sideways wheel
// pans. Drag pans; on the ruler or with Shift it measures a range; on the minimap at the top it moves the window. A
// click selects, a double click zooms to the event. Fingers: touch.ts.

import { eventAt, isTimesOnly, rangeOf, type SliceRef } from "../../model/recording/lane.ts";
import { eventRefOf } from "../../model/page/details.ts";
import { around, zoomed } from "../../model/recording/range.ts";
import { warmEvents } from "../../model/range/warm.ts";
import type { TimelineCanvas } from "./timeline_canvas.ts";

const CLICK = 4; // css pixels the pointer may move in a click
const NEAR = 3; // css pixels around a slice that still hit it

export type Drag =
  | { kind: "pan"; x: number; y: number; from: number; to: number; scroll: number; moved: boolean }
  | { kind: "range"; start: number; moved: boolean }
  | { kind: "minimap" };

export function bindPointer(timeline: TimelineCanvas): () => void {
  const { canvas } = timeline;
  const abort = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(type: K, listener: (event: HTMLElementEventMap[K]) => void) =>
    canvas.addEventListener(type, listener, { signal: abort.signal, passive: false });
  let drag: Drag | null = null;

  on("wheel", (event) => onWheel(timeline, event));
  on("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    canvas.setPointerCapture(event.pointerId);
    drag = begin(timeline, event);
  });
  on("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    timeline.cursor = { x: event.offsetX, y: event.offsetY };
    if (drag) move(timeline, drag, event);
    timeline.invalidate();
  });
  on("pointerup", (event) => {
    const ended = drag;
    drag = null;
    if (ended?.kind === "pan" && !ended.moved) void select(timeline, event.offsetX, event.offsetY);
    if (ended?.kind === "range" && !ended.moved) timeline.viewer.set({ range: null });
  });
  on("pointercancel", () => void (drag = null));
  on("pointerleave", () => {
    timeline.cursor = null;
    timeline.invalidate();
  });
  on("dblclick", (event) => void zoomTo(timeline, event.offsetX, event.offsetY));
  return () => abort.abort();
}

function onWheel(timeline: TimelineCanvas, event: WheelEvent): void {
  event.preventDefault();
  const { viewer } = timeline;
  const unit = [1, 16, timeline.height][event.deltaMode] ?? 1; // of pixels, lines, pages
  const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
  if (event.ctrlKey || event.metaKey) {
    const factor = Math.exp(Math.max(-200, Math.min(200, dy)) * 0.004);
    viewer.set({ view: zoomed(viewer.state.view, factor, timeline.timeAt(event.offsetX)) });
    return;
  }
  const sideways = event.shiftKey ? dx + dy : dx;
  if (sideways !== 0) {
    const { view } = viewer.state;
    const by = sideways * timeline.nsPerPixel;
    viewer.set({ view: { from: view.from + by, to: view.to + by } });
  }
  if (!event.shiftKey && dy !== 0) timeline.scroller.scrollTop += dy;
}

export function begin(timeline: TimelineCanvas, event: PointerEvent): Drag {
  const { zone } = timeline.hit(event.offsetY);
  if (zone === "minimap") {
    showAt(timeline, event.offsetX);
    return { kind: "minimap" };
  }
  if (zone === "ruler" || event.shiftKey) {
    const start = timeline.timeAt(event.offsetX);
    warmEvents(timeline.viewer.recording, start);
    return { kind: "range", start, moved: false };
  }
  const { view } = timeline.viewer.state;
  const place = { x: event.offsetX, y: event.offsetY, from: view.from, to: view.to };
  return { kind: "pan", ...place, scroll: timeline.scroller.scrollTop, moved: false };
}

export function move(timeline: TimelineCanvas, drag: Drag, event: PointerEvent): void {
  const { viewer } = timeline;
  if (drag.kind === "minimap") return showAt(timeline, event.offsetX);
  if (drag.kind === "range") {
    const end = Math.min(Math.max(0, timeline.timeAt(event.offsetX)), viewer.length);
    const start = Math.min(Math.max(0, drag.start), viewer.length);
    if (Math.abs(end - start) < CLICK * timeline.nsPerPixel && !drag.moved) return;
    drag.moved = true;
    viewer.set({ range: { from: Math.round(Math.min(start, end)), to: Math.round(Math.max(start, end)) } });
    return;
  }
  const [dx, dy] = [event.offsetX - drag.x, event.offsetY - drag.y];
  if (!drag.moved && Math.hypot(dx, dy) < CLICK) return;
  drag.moved = true;
  const by = (dx * (drag.to - drag.from)) / timeline.width;
  viewer.set({ view: { from: drag.from - by, to: drag.to - by } });
  timeline.scroller.scrollTop = drag.scroll - dy;
}

function showAt(timeline: TimelineCanvas, x: number): void {
  const { viewer } = timeline;
  const span = viewer.state.view.to - viewer.state.view.from;
  const middle = (x / timeline.width) * viewer.length;
  viewer.set({ view: { from: middle - span / 2, to: middle + span / 2 } });
}

/** The event nearest to a point, among the lanes of the row. */
export async function eventUnder(timeline: TimelineCanvas, x: number, y: number, near = NEAR) {
  const target = timeline.hit(y);
  if (target.zone !== "track" || target.track.kind !== "slices") return null;
  const time = timeline.timeAt(x);
  let best: SliceRef | null = null;
  let smallest = Infinity;
  for (const lane of target.lanes) {
    const found = await eventAt(timeline.viewer.recording, lane, time, near * timeline.nsPerPixel);
    if (!found) continue;
    const away = Math.max(found.slices.start[found.index]! - time, time - found.slices.end[found.index]!, 0);
    if (away < smallest) [best, smallest] = [found, away];
  }
  return best;
}

export async function select(timeline: TimelineCanvas, x: number, y: number, near = NEAR): Promise<void> {
  const found = await eventUnder(timeline, x, y, near);
  if (found?.lane.table === "iteration") return timeline.viewer.set({ selection: null, range: rangeOf(found) });
  if (found && isTimesOnly(found.lane)) return timeline.viewer.choose(null);
  if (found && found.lane.table === "gap") return timeline.viewer.select("gap", found.slices.row[found.index]!, false);
  timeline.viewer.choose(found && eventRefOf(timeline.viewer.recording, found));
}

async function zoomTo(timeline: TimelineCanvas, x: number, y: number): Promise<void> {
  const found = await eventUnder(timeline, x, y);
  if (found)
    timeline.viewer.jump(around({ from: found.slices.start[found.index]!, to: found.slices.end[found.index]! }));
}
