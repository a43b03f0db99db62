// The picture of the shown part of the heat map: what is where, and the drawing of it.

import { useMemo } from "preact/hooks";
import { CanvasSurface } from "../../draw/canvas_surface.ts";
import { marginOf, drawHeatMap } from "../../draw/draw_heat_map.ts";
import type { Theme } from "../../draw/theme.ts";
import {
  columnAt, heatMap, lineOf, placeHeat, placePart, type HeatInput, type HeatMap, type HeatPlace,
} from "../../layout/heat_map.ts";
import { lineLabels, stepTicks } from "../../layout/heat_labels.ts";
import { HeatScale, materialTime } from "../../layout/heat_scale.ts";
import { heatIn, wholeHeat, type HeatWindow } from "../../model/job/heat_window.ts";
import type { Job, Quantity } from "../../model/job/job.ts";
import type { RowOrder } from "../../model/job/job_order.ts";
import type { JobProps } from "../../model/job/job_cell.ts";
import { registerPicture } from "../pictures/canvas_pictures.ts";
import { useViewerState } from "../parts/use_state.ts";
import { px } from "../parts/use_width.ts";

export const LEFT = 92; // css pixels for the labels of rows
const HEIGHT = 440; // of the cells at most
const BAR = 56;
const GAP = 4;
const STRIP = 6;
const LABELS = 16;

export interface HeatProps extends JobProps {
  order: RowOrder;
  rows: Uint32Array; // all ranks in display order
  quantity: Quantity;
  cells: Float64Array;
}

export interface HeatLayout {
  window: HeatWindow; // shown
  whole: HeatWindow;
  input: HeatInput;
  place: HeatPlace;
  heat: HeatScale;
  map: HeatMap;
  width: number; // css pixels, of the picture
  height: number;
  scale: number; // device pixels per css pixel
}

/** Computes only what has changed: a moved pointer or another selected cell computes nothing. */
export function useHeatLayout(props: HeatProps, room: number): HeatLayout {
  const { viewer, job, rows, quantity, cells } = props;
  const wanted = useViewerState(viewer, (state) => state.job.heat);
  const scale = devicePixelRatio || 1;
  const margin = marginOf({ strip: STRIP, bar: BAR, gap: GAP });
  const whole = useMemo(() => wholeHeat(rows.length, job.steps.length), [rows, job]);
  const window = useMemo(() => heatIn(wanted, whole), [wanted, whole]);
  const input = useMemo(() => inputOf(props, window), [cells, rows, job, window, quantity]);
  const all = useMemo(() => {
    const width = Math.max(1, Math.floor((room - LEFT - margin) * scale));
    return placeHeat(width, Math.floor(HEIGHT * scale), whole.ranks.to, whole.steps.to);
  }, [room, scale, whole]);
  const place = useMemo(() => placePart(all, input.rows.length, input.steps), [all, input]);
  const heat = useMemo(() => new HeatScale(quantity, job.stepTime), [quantity, job]);
  const map = useMemo(() => heatMap(input, place, (value) => heat.shade(value)), [input, place, heat]);
  const width = LEFT + (place.columns * place.cellWidth) / scale + margin;
  const height = (place.lines * place.cellHeight) / scale + margin + LABELS;
  return { window, whole, input, place, heat, map, width, height, scale };
}

export function drawPicture(target: HTMLCanvasElement, layout: HeatLayout, props: HeatProps, theme: Theme): void {
  const { job, chosen, order, quantity } = props;
  const { window, input, place, map, width, height, scale } = layout;
  const begun = performance.now();
  target.width = Math.round(width * scale);
  target.height = Math.round(height * scale);
  const frame = {
    map,
    place,
    lowIsBad: quantity.lowIsBad,
    material: 2 * materialTime(quantity, job.stepTime),
    left: Math.round(LEFT * scale),
    strip: STRIP * scale,
    bar: BAR * scale,
    gap: GAP * scale,
    scale,
    labels: lineLabels(job, input.rows, order, place, scale),
    ticks: stepTicks(job.steps.slice(window.steps.from, window.steps.to), place, scale),
    marked: markedLines(job, input.rows, chosen, place),
    font: `${11 * scale}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`,
  };
  drawHeatMap(new CanvasSurface(target.getContext("2d", { alpha: false })!), frame, target, theme);
  registerPicture(target, (surface, colors) => {
    surface.pen.parts.push(`<g transform="scale(${1 / scale})">`);
    drawHeatMap(surface, frame, target, colors);
    surface.pen.parts.push("</g>");
  });
  performance.measure("heat map", { start: begun, end: performance.now() });
  if (target.dataset.complete === undefined) performance.measure("data", { start: 0, end: performance.now() });
  target.dataset.complete = "";
}

function inputOf({ cells, job, quantity: { lowIsBad }, ...all }: HeatProps, { ranks, steps }: HeatWindow): HeatInput {
  const rows = all.rows.subarray(ranks.from, ranks.to);
  return { cells, stride: job.steps.length, rows, first: steps.from, steps: steps.to - steps.from, lowIsBad };
}

/** The lines of the ranks of the straggler whose worst cell is selected. */
function markedLines(job: Job, shown: Uint32Array, chosen: JobProps["chosen"], place: HeatPlace): Uint8Array {
  const marked = new Uint8Array(place.lines);
  const unit = job.units.find(({ worst }) => worst !== null && worst[0] === chosen.rank && worst[1] === chosen.step);
  const ranks = new Set(unit?.ranks ?? []);
  shown.forEach((rank, i) => ranks.has(rank) && (marked[lineOf(i, shown.length, place)] = 1));
  return marked;
}

/** The frame of a cell, given by its place among the shown rows and columns. */
export function cursorStyle(row: number, column: number, layout: Pick<HeatLayout, "input" | "place" | "scale">) {
  const { input, place, scale } = layout;
  const x = (columnAt(column, input.steps, place) * place.cellWidth) / scale;
  const y = (lineOf(row, input.rows.length, place) * place.cellHeight) / scale;
  const [width, height] = [px(place.cellWidth / scale + 4), px(place.cellHeight / scale + 4)];
  return { left: px(LEFT + x - 2), top: px(y - 2), width, height };
}
