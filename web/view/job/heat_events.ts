// What the pointer, the wheel and the keys do on the heat map: the pointed cell, a box being marked, and the handlers
// of the canvas.

import { useEffect, useRef, useState } from "preact/hooks";
import { worstIn } from "../../layout/heat_map.ts";
import { selectCell, showHeat } from "../../model/job/job_cell.ts";
import type { HeatWindow } from "../../model/job/heat_window.ts";
import { HeatDrag, pinchedHeat, pressedZoom, wheeled } from "./heat_gestures.ts";
import type { HeatActions, HeatView, Spot } from "./heat_gestures.ts";
import { LEFT, type HeatLayout, type HeatProps } from "./heat_picture.ts";

export interface Cell {
  place: number; // of the rank among all, in display order
  step: number;
}

export interface Box {
  from: Spot;
  to: Spot;
}

type Canvas = { current: HTMLCanvasElement | null };

export function useHeatEvents({ viewer, job, rows }: HeatProps, layout: HeatLayout, canvas: Canvas, selected: Cell) {
  const { window, whole, input, place, scale } = layout;
  const [pointed, setPointed] = useState<(Cell & Spot) | null>(null);
  const [box, setBox] = useState<Box | null>(null);
  const actions: HeatActions = { show: (part, isStep) => showHeat(viewer, whole, part, isStep), mark: setBox };
  const width = (place.columns * place.cellWidth) / scale / input.steps;
  const height = (place.lines * place.cellHeight) / scale / input.rows.length;
  const view: HeatView = { window, whole, cell: { width, height } };
  const drag = useDrag(actions);
  useWheel(canvas, (event) => wheeled(view, event, spotOf(event)), actions);
  usePinch(canvas, view, actions);

  const select = (cell: Cell) => selectCell(viewer, job, rows[cell.place]!, cell.step);
  const cellAt = (spot: Spot): Cell | null => cellBelow(layout, spot);
  const handlers = {
    onPointerDown(event: PointerEvent) {
      drag.cancel();
      if (event.button !== 0 || event.pointerType === "touch" || cellAt(spotOf(event)) === null) return;
      canvas.current?.setPointerCapture(event.pointerId);
      drag.begin(view, spotOf(event), event.shiftKey);
    },
    onPointerMove(event: PointerEvent) {
      if (event.pointerType === "touch") return;
      const begun = performance.now();
      const spot = spotOf(event);
      const cell = drag.move(spot) ? null : cellAt(spot);
      setPointed(cell && { ...cell, x: event.offsetX, y: event.offsetY });
      performance.measure("hover", { start: begun, end: performance.now() });
    },
    onPointerUp: (event: PointerEvent) => drag.end(spotOf(event)),
    onPointerCancel: () => drag.cancel(),
    onPointerLeave: () => setPointed(null),
    onClick(event: MouseEvent) {
      const cell = drag.hasMoved ? null : cellAt(spotOf(event));
      if (cell) select(cell);
    },
    onKeyDown(event: KeyboardEvent) {
      const part = pressedZoom(view, event, selected);
      const cell = moved(event, selected, rows.length, job.steps.length);
      if (event.key === "Escape" && box !== null) drag.cancel();
      else if (part) actions.show(part, false);
      else if (cell) select(cell);
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
  };
  return { pointed, box, handlers, show: actions.show };
}

const spotOf = ({ offsetX, offsetY }: MouseEvent): Spot => ({ x: offsetX - LEFT, y: offsetY });

/** The worst of the cells that are drawn at a spot; null beside them. */
function cellBelow({ window, input, place, scale }: HeatLayout, { x, y }: Spot): Cell | null {
  const [column, line] = [Math.floor((x * scale) / place.cellWidth), Math.floor((y * scale) / place.cellHeight)];
  if (column < 0 || column >= place.columns || line < 0 || line >= place.lines) return null;
  const found = worstIn(input, place, line, column);
  return { place: found.place + window.ranks.from, step: found.step + window.steps.from };
}

/** One drag for the life of the component; its actions are those of the last drawing. */
function useDrag(actions: HeatActions): HeatDrag {
  const latest = useRef(actions);
  latest.current = actions;
  const drag = useRef<HeatDrag | null>(null);
  return (drag.current ??= new HeatDrag(() => latest.current));
}

/** The wheel needs a listener that may keep the page from scrolling. */
function useWheel(canvas: Canvas, wheel: (event: WheelEvent) => HeatWindow | null, { show }: HeatActions): void {
  const latest = useRef({ wheel, show });
  latest.current = { wheel, show };
  useEffect(() => {
    const target = canvas.current;
    const onWheel = (event: WheelEvent) => {
      const part = latest.current.wheel(event);
      if (part === null) return;
      event.preventDefault();
      latest.current.show(part, false);
    };
    target?.addEventListener("wheel", onWheel, { passive: false });
    return () => target?.removeEventListener("wheel", onWheel);
  }, []);
}

/** Two fingers. Their events need listeners that may keep the page from scrolling and zooming. */
function usePinch(canvas: Canvas, view: HeatView, { show }: HeatActions): void {
  const latest = useRef({ view, show });
  latest.current = { view, show };
  useEffect(() => {
    const target = canvas.current;
    let begun: { view: HeatView; spots: readonly [Spot, Spot] } | null = null;
    const onTouch = (event: TouchEvent) => {
      const spots = target === null ? null : spotsOf(event, target);
      if (spots === null) return void (begun = null);
      event.preventDefault();
      if (begun === null || event.type === "touchstart") begun = { view: latest.current.view, spots };
      else latest.current.show(pinchedHeat(begun.view, begun.spots, spots), false);
    };
    const types = ["touchstart", "touchmove", "touchend", "touchcancel"] as const;
    for (const type of types) target?.addEventListener(type, onTouch, { passive: false });
    return () => types.forEach((type) => target?.removeEventListener(type, onTouch));
  }, []);
}

/** null: not two fingers. */
function spotsOf({ touches }: TouchEvent, canvas: HTMLCanvasElement): readonly [Spot, Spot] | null {
  const { left, top } = canvas.getBoundingClientRect();
  const spotOfTouch = ({ clientX, clientY }: Touch): Spot => ({ x: clientX - left - LEFT, y: clientY - top });
  const [a, b, ...more] = Array.from(touches, spotOfTouch);
  return a && b && more.length === 0 ? [a, b] : null;
}

/** The cell that a key leads to; null for other keys. */
export function moved(event: KeyboardEvent, { place, step }: Cell, ranks: number, steps: number): Cell | null {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  if (ctrlKey || metaKey || altKey || shiftKey) return null;
  const page = Math.max(1, Math.round(ranks / 20));
  const ways: Record<string, [number, number]> = {
    ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
    PageUp: [-page, 0], PageDown: [page, 0], Home: [0, -steps], End: [0, steps],
  };
  const way = ways[key];
  if (way === undefined) return null;
  const inside = (at: number, count: number) => Math.min(Math.max(at, 0), count - 1);
  return { place: inside(place + way[0], ranks), step: inside(step + way[1], steps) };
}
