// Keyboard control of the timeline: W and S zoom, A and D pan while held, as in Perfetto. Each key is declared once,
// with what the help says about it (key_help.tsx) and what it does.

import { linkOf } from "../../model/page/gap_links.ts";
import { isKept } from "../../model/range/kept_ranges.ts";
import { around, zoomed } from "../../model/recording/range.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { acrossRows, alongRow } from "./arrow_keys.ts";
import type { TimelineCanvas } from "./timeline_canvas.ts";

export interface KeyTargets {
  /** Whether keys apply to this timeline, where several are shown. */
  isActive?(): boolean;
  focusSearch(): void;
  step(by: 1 | -1): void;
  togglePath?(): void;
  clear(): void;
}

interface TimelineKey {
  keys: string; // as the help shows them
  what: string;
  /** By name of the key, with Shift+ where Shift makes a difference. Without it the key is held, or a pointer's. */
  on?: Readonly<Record<string, (timeline: TimelineCanvas, targets: KeyTargets) => unknown>>;
}

const showAll = ({ viewer }: TimelineCanvas): void => viewer.jump({ from: 0, to: viewer.length });

export const KEYS: readonly TimelineKey[] = [
  { keys: "W / S", what: "Zoom in / out (also Ctrl + wheel)" },
  { keys: "A / D", what: "Pan left / right (also Shift + wheel, or drag)" },
  {
    keys: "← / →",
    what: "Select the previous / next event in the row",
    on: { ArrowLeft: (timeline) => void alongRow(timeline, -1), ArrowRight: (timeline) => void alongRow(timeline, 1) },
  },
  {
    keys: "↑ / ↓",
    what: "Select the event in the row above / below",
    on: { ArrowUp: (timeline) => void acrossRows(timeline, -1), ArrowDown: (timeline) => void acrossRows(timeline, 1) },
  },
  { keys: "L", what: "Go to the launch of the selection, or to its work; from a gap to its thread", on: { l: follow } },
  { keys: "F", what: "Zoom to the selection or the measured range", on: { f: zoomToChoice } },
  {
    keys: "M / Shift+M", what: "Measure the selection / what the window shows",
    on: { m: measureSelection, "Shift+m": ({ viewer }) => viewer.set({ range: viewer.state.view }) },
  },
  { keys: "S", what: "Keep the measured range, unless it is kept (tap; hold to zoom out)" },
  { keys: "0", what: "Show the whole recording", on: { 0: showAll } },
  { keys: "C", what: "Mark the critical path", on: { c: (_, targets) => targets.togglePath?.() } },
  { keys: "/", what: "Search", on: { "/": (_, targets) => targets.focusSearch() } },
  { keys: "N / Shift+N", what: "Next / previous match (also Enter / Shift+Enter)", on: stepKeys("n", "Enter") },
  {
    keys: "Esc", what: "Leave the search; clear it and the highlight; clear the selection and the measured range",
    on: { Escape: (_, targets) => targets.clear() },
  },
  { keys: "Shift+drag", what: "Measure a time range (also drag on the ruler)" },
];

function stepKeys(...keys: string[]): NonNullable<TimelineKey["on"]> {
  const step = (by: 1 | -1) => (_: TimelineCanvas, targets: KeyTargets) => targets.step(by);
  return Object.fromEntries(keys.flatMap((key) => [[key, step(1)], [`Shift+${key}`, step(-1)]]));
}

const ACTIONS = new Map(KEYS.flatMap(({ on }) => Object.entries(on ?? {})));
const HELD = new Set(["w", "a", "s", "d"]);
const ZOOM_SPEED = 0.004; // of the window, per ms
const MOVE_SPEED = 0.0012;

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
      if (event.ctrlKey || event.metaKey || event.altKey || isUsed(event) || targets.isActive?.() === false) return;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      if (key === "s" && keepAfter.begin(event.repeat, () => press(key))) return;
      if (HELD.has(key)) return press(key);
      const action = (event.shiftKey ? ACTIONS.get(`Shift+${key}`) : undefined) ?? ACTIONS.get(key);
      if (action === undefined) return;
      event.preventDefault();
      action(timeline, targets);
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
  addEventListener("blur", () => {
    held.clear();
    keepAfter.cancel();
  }, { signal: abort.signal });
  return () => abort.abort();
}

/** Whether another element uses the key: a field, a list, a dialog, or a button that Enter presses. */
function isUsed({ target, key, defaultPrevented }: KeyboardEvent): boolean {
  if (defaultPrevented || document.querySelector("dialog[open]") !== null) return true;
  if (!(target instanceof Element)) return false;
  if (target.matches("input, textarea, select")) return true;
  return key === "Enter" && target.closest("button, a, summary") !== null;
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

function zoomToChoice({ viewer }: TimelineCanvas): void {
  const chosen = viewer.state.selection ?? viewer.state.range;
  if (chosen) viewer.jump(around(chosen));
}

async function follow({ viewer }: TimelineCanvas): Promise<void> {
  const { selection } = viewer.state;
  if (selection === null) return;
  const link = await linkOf(viewer.recording, selection);
  if (viewer.state.selection !== selection) return; // something else was selected since
  if (link !== null) viewer.follow(link);
  else viewer.set({ problem: "No launch, work or thread is recorded for this event." });
}

function measureSelection({ viewer }: TimelineCanvas): void {
  const { selection } = viewer.state;
  if (selection) viewer.set({ range: { from: selection.from, to: selection.to } });
}
