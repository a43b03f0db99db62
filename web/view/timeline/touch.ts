// Fingers on the timeline: one pans, two zoom and pan, a tap selects, a long press followed by a drag measures a range.
// On the ruler and the minimap one finger does what the mouse does.

import { warmEvents } from "../../model/range/warm.ts";
import { pinched, type Point } from "../../model/page/pinch.ts";
import { begin, move, select, type Drag } from "./pointer.ts";
import type { TimelineCanvas } from "./timeline_canvas.ts";

const LONG_PRESS = 500; // ms
const SLOP = 10; // css pixels that a finger may move in a tap
const NEAR = 12; // css pixels around a slice that a tap still hits

export function bindTouch(timeline: TimelineCanvas): () => void {
  const { canvas } = timeline;
  const abort = new AbortController();
  const fingers = new Map<number, Point>();
  let first: Point = { x: 0, y: 0 };
  let drag: Drag | null = null;
  let isLong = false; // the finger rested for a long press
  let timer: ReturnType<typeof setTimeout> | undefined;

  type Type = "pointerdown" | "pointermove" | "pointerup" | "pointercancel" | "contextmenu";
  const on = (type: Type, listener: (event: PointerEvent) => void) => {
    const options = { signal: abort.signal, passive: false };
    const ofTouch = (event: PointerEvent) => event.pointerType === "touch" && listener(event);
    canvas.addEventListener(type, (event) => ofTouch(event as PointerEvent), options);
  };
  const at = (event: PointerEvent): Point => ({ x: event.offsetX, y: event.offsetY });
  const rest = () => {
    isLong = true;
    const start = timeline.timeAt(first.x);
    warmEvents(timeline.viewer.recording, start);
    drag = { kind: "range", start, moved: false };
    timeline.cursor = first; // the line shows that the press was long enough
    navigator.vibrate?.(10);
    timeline.invalidate();
  };

  on("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, at(event));
    clearTimeout(timer);
    isLong = false;
    first = at(event);
    drag = fingers.size > 1 ? null : begin(timeline, event);
    if (drag?.kind === "pan") timer = setTimeout(rest, LONG_PRESS);
  });
  on("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) return;
    const now = at(event);
    fingers.set(event.pointerId, now);
    if (fingers.size === 2) return pinch(timeline, fingers, event.pointerId, before);
    if (drag?.kind === "pan" && !drag.moved && Math.hypot(now.x - first.x, now.y - first.y) < SLOP) return;
    clearTimeout(timer);
    if (isLong) timeline.cursor = now;
    if (drag !== null) move(timeline, drag, event);
  });
  const lift = (event: PointerEvent, isTap: boolean) => {
    clearTimeout(timer);
    fingers.delete(event.pointerId);
    timeline.cursor = null;
    const ended = drag;
    drag = null;
    if (isTap && ended?.kind === "pan" && !ended.moved) void select(timeline, event.offsetX, event.offsetY, NEAR);
    if (isTap && ended?.kind === "range" && !ended.moved && !isLong) timeline.viewer.set({ range: null });
    timeline.invalidate();
  };
  on("pointerup", (event) => lift(event, true));
  on("pointercancel", (event) => lift(event, false));
  on("contextmenu", (event) => event.preventDefault()); // of a long press
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}

function pinch(timeline: TimelineCanvas, fingers: ReadonlyMap<number, Point>, moved: number, before: Point): void {
  const [still] = [...fingers].filter(([id]) => id !== moved).map(([, point]) => point);
  const now = fingers.get(moved)!;
  const { viewer } = timeline;
  viewer.set({ view: pinched(viewer.state.view, timeline.width, [still!, before], [still!, now]) });
  timeline.scroller.scrollTop -= (now.y - before.y) / 2;
}
