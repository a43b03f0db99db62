// The surface of a canvas.

import type { Hatch, Plot, Strips } from "../layout/display.ts";
import { hatchKind, type HatchKind } from "./hatches.ts";
import { drawPlots } from "./plots.ts";
import type { Cells, Surface } from "./pen.ts";
import { drawStrips } from "./strips.ts";
import { css, type Rgb, type Theme } from "./theme.ts";

const scratch = { canvas: null as HTMLCanvasElement | null };

export class CanvasSurface implements Surface {
  constructor(readonly pen: CanvasRenderingContext2D) {}

  strips(strips: Strips, width: number, theme: Theme): void {
    drawStrips(this.pen, strips, width, theme);
  }

  plots(plots: readonly Plot[], width: number, scale: number, theme: Theme): void {
    drawPlots(this.pen, plots, width, scale, theme);
  }

  hatches(hatches: readonly Hatch[], theme: Theme): void {
    for (const hatch of hatches) {
      const pattern = patternOf(this.pen, hatch.code, theme);
      if (pattern === null) continue;
      this.pen.fillStyle = pattern;
      this.pen.fillRect(hatch.x, hatch.y, hatch.width, hatch.height);
    }
  }

  cells(cells: Cells): void {
    const { columns, lines, left, cellWidth, cellHeight } = cells;
    this.pen.imageSmoothingEnabled = false;
    this.pen.drawImage(cellsCanvas(columns, lines, cells.colors), left, 0, columns * cellWidth, lines * cellHeight);
  }

  hatching(color: Rgb, scale: number): CanvasPattern | string {
    const size = Math.max(4, Math.round(5 * scale));
    const tile = document.createElement("canvas");
    tile.width = tile.height = size;
    const own = tile.getContext("2d")!;
    own.fillStyle = css(color);
    for (let i = 0; i < size; i++) own.fillRect(i, size - 1 - i, Math.max(2, Math.round(size / 3)), 1);
    own.fillRect(0, 0, Math.max(1, Math.round(size / 3) - 1), 1);
    return this.pen.createPattern(tile, "repeat") ?? css(color);
  }
}

/** A canvas of one pixel per cell; valid until the next call. */
export function cellsCanvas(columns: number, lines: number, colors: Uint32Array): HTMLCanvasElement {
  const canvas = (scratch.canvas ??= document.createElement("canvas"));
  canvas.width = columns;
  canvas.height = lines;
  const image = new ImageData(columns, lines);
  new Uint32Array(image.data.buffer).set(colors);
  canvas.getContext("2d")!.putImageData(image, 0, 0);
  return canvas;
}

const patterns = new Map<string, CanvasPattern | null>();

function patternOf(context: CanvasRenderingContext2D, code: number, theme: Theme): CanvasPattern | null {
  const kind = hatchKind(code);
  if (kind === null) return null;
  const key = `${kind.index} ${theme.ground[0]}`;
  let pattern = patterns.get(key);
  if (pattern === undefined) patterns.set(key, (pattern = context.createPattern(tile(kind, theme), "repeat")));
  return pattern;
}

function tile({ size, lines }: HatchKind, theme: Theme): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d")!;
  context.strokeStyle = css(theme.onSlice, 0.28);
  context.lineWidth = 1;
  context.beginPath();
  for (const [x0, y0, x1, y1] of lines) {
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
  }
  context.stroke();
  return canvas;
}
