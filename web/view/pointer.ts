// Pointer control of the timeline. Wheel scrolls; Ctrl + wheel zooms at the pointer; Shift + wheel or a sideways wheel
// pans. Drag pans; on the ruler or with Shift it measures a range; on the minimap at the top it moves the window. A
// click selects, a double click zooms to the event. Two fingers zoom.

import { eventAt, type Found } from "../model/lane.ts";
import { mentionOf } from "../model/details.ts";
import { around, zoomed } from "../model/state.ts";
import type { Stage } from "./stage.ts";

const CLICK = 4; // css pixels the pointer may move in a click
const NEAR = 3; // css pixels around a slice that still hit it

type Drag =
  | { kind: "pan"; x: number; y: number; from: number; to: number; scroll: number; moved: boolean }
  | { kind: "range"; start: number; moved: boolean }
  | { kind: "minimap" };

export function followPointer(stage: Stage): () => void {
  const { canvas } = stage;
  const abort = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(type: K, listener: (event: HTMLElementEventMap[K]) => void) =>
    canvas.addEventListener(type, listener, { signal: abort.signal, passive: false });
  const fingers = new Map<number, { x: number; y: number }>();
  let drag: Drag | null = null;

  on("wheel", (event) => onWheel(stage, event));
  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    drag = fingers.size > 1 ? null : begin(stage, event);
  });
  on("pointermove", (event) => {
    stage.cursor = { x: event.offsetX, y: event.offsetY };
    const finger = fingers.get(event.pointerId);
    if (fingers.size === 2 && finger) pinch(stage, fingers, event);
    else if (drag) move(stage, drag, event);
    if (finger) fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    stage.invalidate();
  });
  on("pointerup", (event) => {
    fingers.delete(event.pointerId);
    const ended = drag;
    drag = null;
    if (ended?.kind === "pan" && !ended.moved) void select(stage, event.offsetX, event.offsetY);
    if (ended?.kind === "range" && !ended.moved) stage.viewer.set({ range: null });
  });
  on("pointercancel", (event) => {
    fingers.delete(event.pointerId);
    drag = null;
  });
  on("pointerleave", () => {
    stage.cursor = null;
    stage.invalidate();
  });
  on("dblclick", (event) => void zoomTo(stage, event.offsetX, event.offsetY));
  return () => abort.abort();
}

function onWheel(stage: Stage, event: WheelEvent): void {
  event.preventDefault();
  const { viewer } = stage;
  const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? stage.height : 1;
  const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
  if (event.ctrlKey || event.metaKey) {
    const factor = Math.exp(Math.max(-200, Math.min(200, dy)) * 0.004);
    viewer.set({ view: zoomed(viewer.state.view, factor, stage.timeAt(event.offsetX)) });
    return;
  }
  const sideways = event.shiftKey ? dx + dy : dx;
  if (sideways !== 0) {
    const { view } = viewer.state;
    const by = sideways * stage.nsPerPixel;
    viewer.set({ view: { from: view.from + by, to: view.to + by } });
  }
  if (!event.shiftKey && dy !== 0) stage.scroller.scrollTop += dy;
}

function begin(stage: Stage, event: PointerEvent): Drag {
  const { zone } = stage.hit(event.offsetY);
  if (zone === "minimap") {
    showAt(stage, event.offsetX);
    return { kind: "minimap" };
  }
  if (zone === "ruler" || event.shiftKey) return { kind: "range", start: stage.timeAt(event.offsetX), moved: false };
  const { view } = stage.viewer.state;
  return { kind: "pan", x: event.offsetX, y: event.offsetY, from: view.from, to: view.to, scroll: stage.scroller.scrollTop, moved: false };
}

function move(stage: Stage, drag: Drag, event: PointerEvent): void {
  const { viewer } = stage;
  if (drag.kind === "minimap") return showAt(stage, event.offsetX);
  if (drag.kind === "range") {
    const end = Math.min(Math.max(0, stage.timeAt(event.offsetX)), viewer.length);
    const start = Math.min(Math.max(0, drag.start), viewer.length);
    if (Math.abs(end - start) < CLICK * stage.nsPerPixel && !drag.moved) return;
    drag.moved = true;
    viewer.set({ range: { from: Math.round(Math.min(start, end)), to: Math.round(Math.max(start, end)) } });
    return;
  }
  const [dx, dy] = [event.offsetX - drag.x, event.offsetY - drag.y];
  if (!drag.moved && Math.hypot(dx, dy) < CLICK) return;
  drag.moved = true;
  const by = (dx * (drag.to - drag.from)) / stage.width;
  viewer.set({ view: { from: drag.from - by, to: drag.to - by } });
  stage.scroller.scrollTop = drag.scroll - dy;
}

function showAt(stage: Stage, x: number): void {
  const { viewer } = stage;
  const span = viewer.state.view.to - viewer.state.view.from;
  const middle = (x / stage.width) * viewer.length;
  viewer.set({ view: { from: middle - span / 2, to: middle + span / 2 } });
}

function pinch(stage: Stage, fingers: ReadonlyMap<number, { x: number; y: number }>, event: PointerEvent): void {
  const [a, b] = [...fingers.values()];
  if (!a || !b) return;
  const moving = fingers.get(event.pointerId)!;
  const still = moving === a ? b : a;
  const before = Math.max(20, Math.abs(moving.x - still.x));
  const now = Math.max(20, Math.abs(event.offsetX - still.x));
  stage.viewer.set({ view: zoomed(stage.viewer.state.view, before / now, stage.timeAt(still.x)) });
}

/** The event nearest to a point, among the lanes of the row. */
export async function eventUnder(stage: Stage, x: number, y: number): Promise<Found | null> {
  const target = stage.hit(y);
  if (target.zone !== "track" || target.track.kind !== "slices") return null;
  const time = stage.timeAt(x);
  let best: Found | null = null;
  let least = Infinity;
  for (const lane of target.lanes) {
    const found = await eventAt(stage.viewer.recording, lane, time, NEAR * stage.nsPerPixel);
    if (!found) continue;
    const away = Math.max(found.slices.start[found.index]! - time, time - found.slices.end[found.index]!, 0);
    if (away < least) [best, least] = [found, away];
  }
  return best;
}

async function select(stage: Stage, x: number, y: number): Promise<void> {
  const found = await eventUnder(stage, x, y);
  if (found && found.lane.table === "busy") return stage.viewer.choose(null);
  if (found && found.lane.table === "gap") return stage.viewer.select("gap", found.slices.row[found.index]!, false);
  stage.viewer.choose(found && mentionOf(stage.viewer.recording, found));
}

async function zoomTo(stage: Stage, x: number, y: number): Promise<void> {
  const found = await eventUnder(stage, x, y);
  if (found) stage.viewer.set({ view: around({ from: found.slices.start[found.index]!, to: found.slices.end[found.index]! }) });
}
