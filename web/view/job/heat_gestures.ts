// Pointer, wheel and keys of the heat map. Ctrl + wheel zooms at the pointer; Shift + wheel or a sideways wheel pans
// over steps, where there are more. Drag pans; with Shift, or while everything is shown, it marks a box to zoom to. A
// click selects a cell. Two fingers zoom and pan; one finger scrolls the page.

import { contains, heatBetween, movedHeat, zoomedHeat } from "../../model/job/heat_window.ts";
import type { HeatPoint, HeatWindow } from "../../model/job/heat_window.ts";

const CLICK = 4; // css pixels the pointer may move in a click
const CLOSER = 0.5;
const STEP = 0.25; // of the shown cells, by a key
const NEAREST = 20; // css pixels; fingers that are closer would zoom too fast

/** Where the pointer is: css pixels from the first shown cell. */
export interface Spot {
  x: number;
  y: number;
}

export interface HeatView {
  window: HeatWindow;
  whole: HeatWindow;
  cell: { width: number; height: number }; // css pixels of one rank in one step, or less than a pixel
}

export interface HeatActions {
  /** `isStep`: of the history. */
  show(window: HeatWindow, isStep: boolean): void;
  mark(box: { from: Spot; to: Spot } | null): void;
}

export const pointAt = ({ window, cell }: HeatView, { x, y }: Spot): HeatPoint =>
  ({ place: window.ranks.from + y / cell.height, step: window.steps.from + x / cell.width });

const isPart = ({ window, whole }: HeatView): boolean =>
  window.ranks.to - window.ranks.from < whole.ranks.to || window.steps.to - window.steps.from < whole.steps.to;

export class HeatDrag {
  hasMoved = false; // since the button was pressed
  private begun: { at: Spot; view: HeatView; isBox: boolean } | null = null;

  constructor(private readonly actions: () => HeatActions) {}

  begin(view: HeatView, at: Spot, shift: boolean): void {
    this.hasMoved = false;
    this.begun = { at, view, isBox: shift || !isPart(view) };
  }

  /** Whether a drag is going on. */
  move(to: Spot): boolean {
    const { begun } = this;
    if (begun === null) return false;
    const { at, view } = begun;
    this.hasMoved ||= Math.hypot(to.x - at.x, to.y - at.y) >= CLICK;
    if (!this.hasMoved) return true;
    const by = { place: (at.y - to.y) / view.cell.height, step: (at.x - to.x) / view.cell.width };
    if (begun.isBox) this.actions().mark({ from: at, to });
    else this.actions().show(movedHeat(view.window, view.whole, by), false);
    return true;
  }

  end(to: Spot): void {
    const { begun, hasMoved } = this;
    this.cancel();
    this.hasMoved = hasMoved; // the click that follows is none
    if (begun !== null && hasMoved && begun.isBox)
      this.actions().show(heatBetween(pointAt(begun.view, begun.at), pointAt(begun.view, to), begun.view.whole), true);
  }

  cancel(): void {
    if (this.begun !== null) this.actions().mark(null);
    this.begun = null;
    this.hasMoved = false;
  }
}

/** The window that a turn of the wheel leads to; null: the wheel is the page's. */
export function wheeled(view: HeatView, event: WheelEvent, at: Spot): HeatWindow | null {
  const { ctrlKey, metaKey, shiftKey, deltaX, deltaY, deltaMode } = event;
  const unit = deltaMode === 0 ? 1 : 16;
  const factor = Math.exp(Math.max(-200, Math.min(200, deltaY * unit)) * 0.004);
  if (ctrlKey || metaKey) return zoomedHeat(view.window, view.whole, factor, pointAt(view, at));
  const sideways = (shiftKey ? deltaX + deltaY : deltaX) * unit;
  if (sideways === 0 || !isPart(view)) return null;
  const steps = sideways / view.cell.width;
  const step = Math.sign(steps) * Math.max(1, Math.round(Math.abs(steps)));
  return movedHeat(view.window, view.whole, { place: 0, step });
}

/** The window that keeps what is between two fingers between them, since they were put down. */
export function pinchedHeat(view: HeatView, before: readonly [Spot, Spot], now: readonly [Spot, Spot]): HeatWindow {
  const { window, whole, cell } = view;
  const [was, is] = [fingers(before), fingers(now)];
  const zoomed = zoomedHeat(window, whole, was.apart / is.apart, pointAt(view, was.middle));
  const pixels = (axis: "ranks" | "steps", before: number) =>
    (before * (window[axis].to - window[axis].from)) / (zoomed[axis].to - zoomed[axis].from);
  return movedHeat(zoomed, whole, {
    place: (was.middle.y - is.middle.y) / pixels("ranks", cell.height),
    step: (was.middle.x - is.middle.x) / pixels("steps", cell.width),
  });
}

function fingers([a, b]: readonly [Spot, Spot]) {
  const apart = Math.max(NEAREST, Math.hypot(a.x - b.x, a.y - b.y));
  return { apart, middle: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } };
}

/** Where keys and buttons zoom: the selected cell, or the middle of what is shown if the cell is not in it. */
export function anchorOf({ ranks, steps }: HeatWindow, { place, step }: HeatPoint): HeatPoint {
  const isShown = contains(ranks, place) && contains(steps, step);
  if (isShown) return { place: place + 0.5, step: step + 0.5 };
  return { place: (ranks.from + ranks.to) / 2, step: (steps.from + steps.to) / 2 };
}

/** The window that a key leads to; null for other keys. */
export function pressedZoom(view: HeatView, event: KeyboardEvent, selected: HeatPoint): HeatWindow | null {
  const { window, whole } = view;
  const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey) return null;
  const by = (range: { from: number; to: number }) => Math.max(1, Math.round(STEP * (range.to - range.from)));
  const pan = (place: number, step: number) => () =>
    movedHeat(window, whole, { place: place * by(window.ranks), step: step * by(window.steps) });
  const zoom = (factor: number) => () => zoomedHeat(window, whole, factor, anchorOf(window, selected));
  const [closer, farther, left, right] = [zoom(CLOSER), zoom(1 / CLOSER), pan(0, -1), pan(0, 1)];
  type Ways = Record<string, () => HeatWindow>;
  const zooms: Ways = { "+": closer, "=": closer, w: closer, "-": farther, s: farther, "0": () => whole };
  const ways: Ways = { ...zooms, a: left, d: right };
  const shifted: Ways = { ArrowLeft: left, ArrowRight: right, ArrowUp: pan(-1, 0), ArrowDown: pan(1, 0) };
  const way = ways[key.toLowerCase()] ?? (shiftKey ? shifted[key] : undefined);
  return way?.() ?? null;
}
