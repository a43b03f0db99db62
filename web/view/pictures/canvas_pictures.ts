// How the pictures of canvases are drawn a second time, as shapes and text instead of pixels. A component registers its
// canvas; the menu that saves a part of the page asks here.

import { cellsCanvas } from "../../draw/canvas_surface.ts";
import { SvgSurface } from "../../draw/svg_surface.ts";
import type { Theme } from "../../draw/theme.ts";

/** Draws in css pixels of the canvas; returns the height that it used, if not all. */
type Drawing = (surface: SvgSurface, theme: Theme) => number | void;

const drawings = new WeakMap<HTMLCanvasElement, Drawing>();

export function registerPicture(canvas: HTMLCanvasElement, drawing: Drawing): void {
  drawings.set(canvas, drawing);
}

let ruler: CanvasRenderingContext2D | undefined;

export function measureText(text: string, font: string): number {
  ruler ??= document.createElement("canvas").getContext("2d")!;
  ruler.font = font;
  return ruler.measureText(text).width;
}

const imageOf = (columns: number, lines: number, colors: Uint32Array): string =>
  cellsCanvas(columns, lines, colors).toDataURL("image/png");

/** SVG elements; null if nobody draws this canvas as shapes. */
export function canvasPicture(canvas: HTMLCanvasElement, theme: Theme): { markup: string; height: number } | null {
  const drawing = drawings.get(canvas);
  if (drawing === undefined) return null;
  const surface = new SvgSurface(measureText, imageOf);
  const height = drawing(surface, theme) ?? Infinity;
  return { markup: surface.pen.markup, height };
}
