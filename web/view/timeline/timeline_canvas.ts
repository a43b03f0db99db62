// The canvas of the timeline: draws a frame after a change, at most one per screen refresh. It keeps only transient
// state (pointer, scroll position, size); the rest is in the viewer's state.

import { CanvasSurface } from "../../draw/canvas_surface.ts";
import { drawScene, FONT } from "../../draw/draw_scene.ts";
import { DARK, LIGHT } from "../../draw/theme.ts";
import { Fitter } from "../../layout/fit.ts";
import { hit, type Hit } from "../../layout/hit.ts";
import { HEAD, sceneOf, type FrameInput, type SceneSource } from "../../layout/scene.ts";
import { placeTracks, changesToReveal, type Placement, type TrackTree } from "../../layout/tracks.ts";
import { drawnAt, valueAt, type TimedValue, type SliceRef } from "../../model/recording/lane.ts";
import { IterationTimes, readIterations } from "../../model/recording/iterations.ts";
import type { Lane } from "../../model/recording/manifest.ts";
import type { BusyShares } from "../../model/recording/report.ts";
import type { State } from "../../model/page/state.ts";
import type { RowPlace, Viewer } from "../../model/page/viewer.ts";
import { registerPicture } from "../pictures/canvas_pictures.ts";
import { theme } from "../page/theme_switch.tsx";

const PICTURE_SCALE = 2; // pixels of the display list per css pixel of a saved picture

type Placed = { pinned: Placement; rest: Placement; pinnedHeight: number };
const NO_TRACKS: Placement = { tracks: [], height: 0 };

export class TimelineCanvas {
  /** Called before each frame with the track positions. */
  onPlaced: (placed: Placed) => void = () => {};
  cursor: { x: number; y: number } | null = null;
  links: FrameInput["links"] = []; // of the selection
  launches: FrameInput["links"] = []; // of the measured range
  width = 1;
  height = 1;
  private pending = false;
  private complete = false; // whether a frame with all its data has been drawn
  private busy: FrameInput["busy"] = null;
  private placedFor: readonly unknown[] = []; // the choices and the height that `placed` is of
  private placed: Placed = { pinned: NO_TRACKS, rest: NO_TRACKS, pinnedHeight: 0 };
  iterations: IterationTimes | null = null; // of a server, once they are read
  private readonly tree: TrackTree;
  private readonly context: CanvasRenderingContext2D;
  private readonly surface: CanvasSurface;
  private readonly source: SceneSource;
  private readonly release: (() => void)[] = [];

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly scroller: HTMLElement,
    readonly viewer: Viewer,
  ) {
    this.context = canvas.getContext("2d", { alpha: false })!;
    this.surface = new CanvasSurface(this.context);
    const { recording } = viewer;
    this.tree = { tracks: recording.manifest.tracks, childrenOf: recording.childrenOf, lanesOf: recording.lanesOf };
    // A separate canvas, because the page's canvas loses its font whenever its size changes.
    const ruler = document.createElement("canvas").getContext("2d")!;
    ruler.font = FONT;
    this.source = {
      strings: recording.strings,
      lanes: recording.manifest.lanes,
      slices: (blob) => recording.chunks.slices(blob),
      values: (blob) => recording.chunks.values(blob),
      fitter: new Fitter((text) => ruler.measureText(text).width),
    };
    const draw = () => this.invalidate();
    const sizes = new ResizeObserver(() => this.resize());
    sizes.observe(canvas);
    const drawNow = () => this.draw(); // printing does not wait for the next frame
    addEventListener("theme", drawNow);
    scroller.addEventListener("scroll", draw, { passive: true });
    this.release.push(
      viewer.subscribe(draw),
      recording.chunks.onLoad(draw),
      () => sizes.disconnect(),
      () => removeEventListener("theme", drawNow),
      () => scroller.removeEventListener("scroll", draw),
    );
    void recording.busyShares().then((measured) => {
      const shares = meanBusy(measured);
      const [from, to] = recording.manifest.part_ns ?? [0, viewer.length];
      this.busy = shares && { shares, range: { from, to } };
      this.invalidate();
    }, draw);
    if (recording.manifest.iterations > 0)
      void readIterations(recording).then((all) => (this.iterations = new IterationTimes(all)), () => {});
    registerPicture(canvas, (surface, theme) => {
      const frame = this.frame(PICTURE_SCALE);
      const height = Math.min(frame.height, HEAD + this.placed.pinnedHeight + this.placed.rest.height - frame.scroll);
      drawScene(surface, sceneOf({ ...frame, height }, this.source), theme);
      return height;
    });
    this.resize();
  }

  close(): void {
    for (const release of this.release) release();
  }

  invalidate(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  /** ns per css pixel. */
  get nsPerPixel(): number {
    const { view } = this.viewer.state;
    return (view.to - view.from) / this.width;
  }

  timeAt(x: number): number {
    return this.viewer.state.view.from + x * this.nsPerPixel;
  }

  hit(y: number): Hit {
    return hit(y, this.placed.pinned, this.placed.pinnedHeight, this.placed.rest, this.scroller.scrollTop);
  }

  /** Scrolls to a row unless it is visible; `opens` also unfolds and unhides it. */
  reveal(row: RowPlace, opens: boolean): void {
    if (this.tree.tracks[row.track] === undefined) return;
    const { state } = this.viewer;
    const change = opens ? changesToReveal(this.tree, state.timeline, row.track) : {};
    if (Object.keys(change).length > 0) this.viewer.set({ timeline: change });
    this.place(this.viewer.state);
    const track = this.placed.rest.tracks.find((placed) => placed.track.id === row.track);
    if (!track) return;
    const top = track.top + row.y * track.rowHeight;
    const room = this.height - HEAD - this.placed.pinnedHeight;
    const { scrollTop } = this.scroller;
    if (top < scrollTop || top + track.rowHeight > scrollTop + room)
      requestAnimationFrame(() => (this.scroller.scrollTop = top - room / 2));
  }

  /** The event drawn under a point, from loaded chunks only. */
  drawnAt(x: number, y: number): SliceRef | null {
    const target = this.hit(y);
    if (target.zone !== "track" || target.track.kind !== "slices") return null;
    for (const lane of target.lanes) {
      const found = drawnAt(this.viewer.recording, lane, this.timeAt(x), this.nsPerPixel);
      if (found) return found;
    }
    return null;
  }

  /** The visible rows of events from top to bottom, each with its lanes. */
  get rows(): Lane[][] {
    const tracks = [...this.placed.pinned.tracks, ...this.placed.rest.tracks].filter(({ kind }) => kind === "slices");
    const rowOf = (lanes: Lane[], y: number) => lanes.filter((lane) => lane.y === y && lane.kind !== "value");
    return tracks.flatMap(({ lanes, rows }) => Array.from({ length: rows }, (_, y) => rowOf(lanes, y)));
  }

  /** The lanes of the critical path while it is marked. */
  private get critical(): readonly Lane[] {
    const { state, recording } = this.viewer;
    return state.timeline.criticalPath ? (recording.manifest.critical_path?.lanes ?? []) : [];
  }

  /** The part of the critical path under a point, from loaded chunks only; null if it is not marked. */
  criticalAt(x: number, y: number): SliceRef | null {
    const target = this.hit(y);
    if (target.zone !== "track" || target.track.kind !== "slices") return null;
    for (const lane of this.critical) {
      if (lane.track !== target.track.track.id || lane.y !== target.row) continue;
      const found = drawnAt(this.viewer.recording, lane, this.timeAt(x), this.nsPerPixel);
      if (found) return found;
    }
    return null;
  }

  /** The counter value under a point. */
  valueAt(x: number, y: number): ({ lane: Lane } & TimedValue) | null {
    const target = this.hit(y);
    if (target.zone !== "track" || target.track.kind !== "counter") return null;
    const lane = target.lanes.find((each) => each.kind === "value");
    const found = lane && valueAt(this.viewer.recording, lane, this.timeAt(x), this.nsPerPixel);
    return lane && found ? { lane, ...found } : null;
  }

  private resize(): void {
    const scale = devicePixelRatio || 1;
    this.width = Math.max(1, this.canvas.clientWidth);
    this.height = Math.max(1, this.canvas.clientHeight);
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(this.height * scale);
    this.invalidate();
  }

  private draw(): void {
    const begun = performance.now();
    this.place(this.viewer.state);
    const frame = { ...this.frame(this.canvas.width / this.width), cursor: this.cursor?.x ?? null };
    this.context.setTransform(frame.scale, 0, 0, frame.scale, 0, 0);
    drawScene(this.surface, sceneOf(frame, this.source), theme() === "dark" ? DARK : LIGHT);
    performance.measure("frame", { start: begun, end: performance.now() });
    if (!this.complete && !this.viewer.recording.chunks.isLoading) {
      this.complete = true;
      performance.measure("data", { start: 0, end: performance.now() });
      this.canvas.dataset.complete = "";
    }
  }

  /** What is shown, without the pointer. */
  private frame(scale: number): FrameInput {
    const { state, length } = this.viewer;
    const { width, height, busy, critical } = this;
    const { pinned, rest } = this.placed;
    const links = [...this.launches, ...this.links];
    const scroll = this.scroller.scrollTop;
    return { state, length, width, height, scale, scroll, pinned, rest, busy, cursor: null, links, critical };
  }

  private place(state: State): void {
    const { collapsed, hidden, pinned, order, filter } = state.timeline;
    const { height } = this;
    const placedFor = [collapsed, hidden, pinned, order, filter, height];
    if (placedFor.every((each, i) => each === this.placedFor[i])) return;
    this.placedFor = placedFor;
    const placed = placeTracks(this.tree, state.timeline);
    this.placed = { ...placed, pinnedHeight: Math.min(placed.pinned.height, Math.max(0, (height - HEAD) / 2)) };
    this.onPlaced(this.placed);
  }
}

/** The busy share of each slice of the recording, over all devices. */
function meanBusy(measured: BusyShares | null): number[] | null {
  const devices = measured?.devices ?? [];
  const longest = devices.reduce((most, device) => Math.max(most, device.busy.length), 0);
  if (longest === 0) return null;
  const meanAt = (i: number) => devices.reduce((sum, device) => sum + (device.busy[i] ?? 0), 0) / devices.length;
  return Array.from({ length: longest }, (_, i) => meanAt(i));
}
