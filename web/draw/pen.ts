// What drawing code needs of its surface: the part of a canvas context that it uses, and the things that are pixels on
// a canvas and shapes in a vector picture. canvas_surface.ts and svg_surface.ts are the two surfaces.

import type { Hatch, Plot, Strips } from "../layout/display.ts";
import type { Rgb, Theme } from "./theme.ts";

type Context = CanvasRenderingContext2D;
type PathCall = "beginPath" | "rect" | "clip" | "moveTo" | "lineTo" | "fill" | "stroke";
type OtherCall = "save" | "restore" | "fillRect" | "strokeRect";
type Style = "lineWidth" | "lineJoin" | "font" | "textAlign" | "textBaseline";

export interface Pen extends Pick<Context, PathCall | OtherCall | Style> {
  fillStyle: Context["fillStyle"];
  strokeStyle: Context["strokeStyle"];
  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void;
  fillText(text: string, x: number, y: number, maxWidth?: number): void;
  measureText(text: string): { width: number };
}

/** A matrix of colours, each drawn as a cell of this size. */
export interface Cells {
  columns: number;
  lines: number;
  colors: Uint32Array; // 0xAABBGGRR; 0: nothing
  left: number;
  cellWidth: number;
  cellHeight: number;
}

export interface Surface {
  pen: Pen;
  strips(strips: Strips, width: number, theme: Theme): void;
  plots(plots: readonly Plot[], width: number, scale: number, theme: Theme): void;
  hatches(hatches: readonly Hatch[], theme: Theme): void;
  cells(cells: Cells): void;
  /** A fill of dense diagonal lines, visible in a single pixel. */
  hatching(color: Rgb, scale: number): Context["fillStyle"];
}
