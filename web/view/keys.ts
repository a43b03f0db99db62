// Keyboard control of the timeline: W and S zoom, A and D pan while held, as in Perfetto. Arrows move between events.
// KEYS is also the content of the help.

import { eventRefOf, type EventRef } from "../model/details.ts";
import { isKept } from "../model/kept_ranges.ts";
import { eventAt, neighbour } from "../model/lane.ts";
import { around, zoomed } from "../model/state.ts";
import type { Viewer } from "../model/viewer.ts";
import type { TimelineCanvas } from "./timeline_canvas.ts";

export const KEYS: readonly [keys: string, what: string][] = [
  ["W / S", "Zoom in / out (also Ctrl + wheel)"],
  ["A / D", "Pan left / right (also Shift + wheel, or drag)"],
  ["← / →", "Select the previous / next event in the row"],
  ["↑ / ↓", "Select the event in the row above / below"],
  ["F", "Zoom to the selection or the measured range"],
  ["M", "Measure the selection"],
  ["S", "Keep the measured range, unless it is kept (tap; hold to zoom out)"],
  ["0", "Show the whole recording"],
  ["C", "Mark the critical path"],
  ["/", "Search"],
  ["N / Shift+N", "Next / previous match"],
  ["Esc", "Clear the selection, the measured range and the search"],
  ["Shift+drag", "Measure a time range (also drag on the ruler)"],
];

const HELD = new Set(["w", "a", "s", "d"]);
const ZOOM_SPEED = 0.004; // of the window, per ms
const MOVE_SPEED = 0.0012;

export interface KeyTargets {
  /** Whether keys apply to this timeline, where several are shown. */
  isActive?(): boolean;
  focusSearch(): void;
  step(by: 1 | -1): void;
  togglePath?(): void;
  clear(): void;
}

export function bindKeys(timeline: TimelineCanvas, targets: KeyTargets): () => void {
  const held = new Set<string>();
  const abort = new AbortController();
  let last = 0;

  const advance = (now: number) => {
    if (held.size === 0) return;
    const passed = Math.max(0, Math.min(50, now - last)); // a frame that is late is dated before the key was pressed
    last = now;
    glide(timeline, held, passed);
    requestAnimationFrame(advance);
  };
  const keepAfter = tapToKeep(timeline.viewer);
  const press = (key: string) => {
    if (held.has(key)) return;
    held.add(key);
    glide(timeline, held, 40); // a tap is a step
    last = performance.now();
    if (held.size === 1) requestAnimationFrame(advance);
  };
  addEventListener(
    "keydown",
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || targets.isActive?.() === false) return;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      if (key === "s" && keepAfter.begin(event.repeat, () => press(key))) return;
      if (HELD.has(key)) return press(key);
      if (onKey(timeline, targets, key, event.shiftKey, event.target)) event.preventDefault();
    },
    { signal: abort.signal },
  );
  addEventListener(
    "keyup",
    (event) => {
      held.delete(event.key.toLowerCase());
      if (event.key.toLowerCase() === "s") keepAfter.end();
    },
    { signal: abort.signal },
  );
  addEventListener("blur", () => (held.clear(), keepAfter.cancel()), { signal: abort.signal });
  return () => abort.abort();
}

const TAP = 250; // ms; a key held longer is no tap

/** S keeps a measured range when it is tapped, and zooms out when it is held. */
function tapToKeep(viewer: Viewer) {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const cancel = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  return {
    cancel,
    /** Whether the key may become a tap. */
    begin(isRepeat: boolean, onHold: () => void): boolean {
      const { range, kept } = viewer.state;
      if (timer !== null) return true;
      if (isRepeat || range === null || isKept(kept, range)) return false;
      timer = setTimeout(() => {
        timer = null;
        onHold();
      }, TAP);
      return true;
    },
    end(): void {
      if (timer !== null) viewer.keepRange();
      cancel();
    },
  };
}

const isTyping = (target: EventTarget | null): boolean => target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;

function glide(timeline: TimelineCanvas, held: ReadonlySet<string>, passed: number): void {
  const { viewer } = timeline;
  let { view } = viewer.state;
  const zoom = (held.has("s") ? 1 : 0) - (held.has("w") ? 1 : 0);
  const move = (held.has("d") ? 1 : 0) - (held.has("a") ? 1 : 0);
  const anchor = timeline.cursor ? timeline.timeAt(timeline.cursor.x) : (view.from + view.to) / 2;
  if (zoom !== 0) view = zoomed(view, Math.exp(zoom * passed * ZOOM_SPEED), anchor);
  const by = move * passed * MOVE_SPEED * (view.to - view.from);
  viewer.set({ view: { from: view.from + by, to: view.to + by } });
}

/** Whether the key was handled. */
function onKey(timeline: TimelineCanvas, targets: KeyTargets, key: string, shift: boolean, target: EventTarget | null): boolean {
  const { viewer } = timeline;
  const { selection, range } = viewer.state;
  if (target instanceof HTMLButtonElement && (key === "Enter" || key === " ")) return false;
  switch (key) {
    case "ArrowLeft":
    case "ArrowRight":
      void alongLane(viewer, key === "ArrowRight" ? 1 : -1, timeline);
      return true;
    case "ArrowUp":
    case "ArrowDown":
      if (selection === null) timeline.scroller.scrollTop += key === "ArrowDown" ? 40 : -40;
      else void acrossRows(viewer, key === "ArrowDown" ? 1 : -1);
      return true;
    case "f":
      if (selection ?? range) viewer.set({ view: around((selection ?? range)!) });
      return true;
    case "m":
      if (selection) viewer.set({ range: { from: selection.from, to: selection.to } });
      return true;
    case "0":
      viewer.set({ view: { from: 0, to: viewer.length } });
      return true;
    case "c":
      targets.togglePath?.();
      return true;
    case "/":
      targets.focusSearch();
      return true;
    case "n":
      targets.step(shift ? -1 : 1);
      return true;
    case "Escape":
      targets.clear();
      return true;
  }
  return false;
}

async function alongLane(viewer: Viewer, by: 1 | -1, timeline: TimelineCanvas): Promise<void> {
  const { selection, view } = viewer.state;
  const lane = selection && selection.lane !== null ? viewer.recording.manifest.lanes[selection.lane] : undefined;
  if (!selection || !lane) {
    const step = (by * (view.to - view.from)) / 10;
    return viewer.set({ view: { from: view.from + step, to: view.to + step } });
  }
  if (lane.table === "gap") return viewer.select("gap", selection.row + by);
  const found = await neighbour(viewer.recording, lane, selection.from, by);
  if (found) show(viewer, eventRefOf(viewer.recording, found), timeline.nsPerPixel);
}

/** The event at the same time in the nearest row above or below that has one, within the same track. */
async function acrossRows(viewer: Viewer, by: 1 | -1): Promise<void> {
  const { selection } = viewer.state;
  const lane = selection && selection.lane !== null ? viewer.recording.manifest.lanes[selection.lane] : undefined;
  if (!selection || !lane) return;
  const rows = viewer.recording.lanesOf[lane.track]!.filter((each) => each.kind !== "value" && by * (each.y - lane.y) > 0);
  rows.sort((a, b) => by * (a.y - b.y));
  for (const each of rows) {
    const found = await eventAt(viewer.recording, each, selection.from, by > 0 ? selection.to - selection.from : 0);
    if (found) return viewer.choose(eventRefOf(viewer.recording, found), true);
  }
}

/** Selects the event, and moves the window only if the event is outside it; keeps the zoom if the event is visible at
    it. */
function show(viewer: Viewer, event: EventRef, nsPerPixel: number): void {
  const { view } = viewer.state;
  viewer.choose(event);
  if (event.from >= view.from && event.to <= view.to) return;
  const span = view.to - view.from;
  const middle = (event.from + event.to) / 2;
  const fits = event.to - event.from < span && event.to - event.from > nsPerPixel;
  viewer.set({ view: fits ? { from: middle - span / 2, to: middle + span / 2 } : around(event, 2) });
}
