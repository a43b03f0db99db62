// Draws a heat map: the cells as one image, stretched to whole pixels; lost cells hatched; bars of means at its right
// and its bottom; marks at the ranks of a chosen unit at its left. All positions are device pixels.

import { barsOf, type HeatMap, type HeatPlace } from "../layout/heat_map.ts";
import { jobColors } from "./heat_colors.ts";
import type { Pen, Surface } from "./pen.ts";
import { pixelOf } from "./plots.ts";
import { css, type Theme } from "./theme.ts";

export interface HeatFrame {
  map: HeatMap;
  place: HeatPlace;
  lowIsBad: boolean;
  material: number; // the least worth a whole bar
  left: number; // of the cells
  strip: number; // thickness of the marks of lost cells
  bar: number; // length of the longest bar
  gap: number;
  scale: number; // device pixels per css pixel
  labels: { line: number; text: string; rule: boolean }[]; // of lines
  ticks: { column: number; text: string }[]; // of columns
  marked: Uint8Array; // lines of the chosen unit
  font: string;
}

/** What the picture takes besides the cells: right of them, and below. */
export const marginOf = ({ strip, bar, gap }: Pick<HeatFrame, "strip" | "bar" | "gap">): number =>
  gap + strip + gap + bar;

type Size = { width: number; height: number };

export function drawHeatMap(surface: Surface, frame: HeatFrame, size: Size, theme: Theme): void {
  const context = surface.pen;
  const { map, left, strip, gap, bar, lowIsBad, material } = frame;
  const { cellWidth, cellHeight } = frame.place;
  context.fillStyle = css(theme.ground);
  context.fillRect(0, 0, size.width, size.height);
  const [width, height] = [map.columns * cellWidth, map.lines * cellHeight];
  const pattern = surface.hatching(jobColors(theme).hatch, frame.scale);
  drawCells(surface, frame, theme);
  context.fillStyle = pattern;
  runs(map.shades, map.columns, (line, from, to) =>
    context.fillRect(left + from * cellWidth, line * cellHeight, (to - from) * cellWidth, cellHeight),
  );
  const [right, below] = [left + width + gap, height + gap];
  map.lineLost.forEach((lost, line) => lost && context.fillRect(right, line * cellHeight, strip, cellHeight));
  map.columnLost.forEach((lost, at) => lost && context.fillRect(left + at * cellWidth, below, cellWidth, strip));
  context.fillStyle = css(theme.accent);
  barsOf(map.lineMeans, lowIsBad, material).forEach((part, line) =>
    context.fillRect(right + strip + gap, line * cellHeight, part * bar, spaced(cellHeight)),
  );
  barsOf(map.columnMeans, lowIsBad, material).forEach((part, column) =>
    context.fillRect(left + column * cellWidth, below + strip + gap, spaced(cellWidth), part * bar),
  );
  frame.marked.forEach((mark, line) => mark && context.fillRect(left - 2 * gap, line * cellHeight, gap, cellHeight));
  drawText(context, frame, theme, below + strip + gap + bar);
}

const spaced = (size: number): number => (size >= 4 ? size - 1 : size);

function drawCells(surface: Surface, { map, place, left }: HeatFrame, theme: Theme): void {
  const { columns, lines } = map;
  const { cellWidth, cellHeight } = place;
  const shades = Uint32Array.from(jobColors(theme).shades, (color, i) => (i === 0 ? 0 : pixelOf(color, 1)));
  const colors = Uint32Array.from(map.shades, (shade) => shades[shade]!);
  surface.cells({ columns, lines, colors, left, cellWidth, cellHeight });
}

/** Calls back for every run of lost cells in a line. */
function runs(shades: Uint8Array, columns: number, found: (line: number, from: number, to: number) => void): void {
  for (let line = 0; line * columns < shades.length; line++)
    for (let column = 0; column < columns; column++) {
      if (shades[line * columns + column] !== 0) continue;
      const from = column;
      while (column < columns && shades[line * columns + column] === 0) column++;
      found(line, from, column);
    }
}

function drawText(
  context: Pen, { place, left, gap, scale, labels, ticks, font }: HeatFrame, theme: Theme, bottom: number,
): void {
  context.font = font;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const { line, text, rule } of labels) {
    const y = line * place.cellHeight;
    if (rule && line > 0) {
      context.fillStyle = css(theme.quiet);
      context.fillRect(gap, y, left - 3 * gap, Math.max(1, Math.round(scale)));
    }
    context.fillStyle = css(theme.quiet);
    const middle = y + (rule ? 7 * scale : place.cellHeight / 2);
    context.fillText(text, left - 3 * gap, Math.max(6 * scale, middle), left - 4 * gap);
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const { column, text } of ticks) context.fillText(text, left + (column + 0.5) * place.cellWidth, bottom + gap);
}
