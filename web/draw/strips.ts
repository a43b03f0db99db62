// All rows of slices as one image, stretched to the rows' heights: one upload, and one stretch per row regardless of
// its content. The share of time that a pixel's events cover is the height of its bar: a colour of full strength can be
// seen at any zoom, a pale one cannot.

import { EDGE } from "../layout/colors.ts";
import type { Strips } from "../layout/display.ts";
import type { Theme } from "./theme.ts";

/** Lines of the image per row of slices, and so the heights that a bar can have. */
export const LINES = 6;

/** The height of a bar in lines: never none where there is an event, and all only if it covers everything. */
export function linesOf(shade: number): number {
  if (shade === 0 || shade === 255) return (shade / 255) * LINES;
  return Math.min(LINES - 1, Math.max(1, Math.round((shade / 255) * LINES)));
}

const table = new Map<Theme, Uint32Array>();

/** The colour of every code in the image's pixel format. */
function colours(theme: Theme): Uint32Array {
  let lookup = table.get(theme);
  if (lookup) return lookup;
  lookup = new Uint32Array(256);
  for (let code = 0; code < 256; code++) {
    const [r, g, b] = (code & EDGE ? theme.edges : theme.fills)[code & ~EDGE] ?? theme.quiet;
    lookup[code] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }
  table.set(theme, lookup);
  return lookup;
}

/** One row of slices as lines, from top to bottom; pixels without an event stay transparent. */
function fillRow(words: Uint32Array, row: number, { pixels, codes, shades }: Strips, lookup: Uint32Array): void {
  const from = row * pixels;
  const first = row * LINES * pixels;
  for (let x = 0; x < pixels; x++) {
    const height = linesOf(shades[from + x]!);
    const color = lookup[codes[from + x]!]!;
    for (let line = LINES - height; line < LINES; line++) words[first + line * pixels + x] = color;
  }
}

const scratch = { canvas: null as HTMLCanvasElement | null };

export function drawStrips(context: CanvasRenderingContext2D, strips: Strips, width: number, theme: Theme): void {
  const rows = strips.tops.length;
  if (rows === 0) return;
  const lines = rows * LINES;
  const image = new ImageData(strips.pixels, lines);
  const words = new Uint32Array(image.data.buffer);
  const lookup = colours(theme);
  for (let row = 0; row < rows; row++) fillRow(words, row, strips, lookup);
  const canvas = (scratch.canvas ??= document.createElement("canvas"));
  if (canvas.width < strips.pixels || canvas.height < lines) {
    canvas.width = Math.max(canvas.width, strips.pixels);
    canvas.height = Math.max(canvas.height, lines);
  }
  canvas.getContext("2d", { willReadFrequently: true })!.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  for (let row = 0; row < rows; row++)
    context.drawImage(canvas, 0, row * LINES, strips.pixels, LINES, 0, strips.tops[row]!, width, strips.heights[row]!);
}
