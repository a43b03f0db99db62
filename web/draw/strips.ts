// All rows of slices as one image with one line per row, stretched to the rows' heights: one upload, and one stretch
// per row regardless of its content.

import { EDGE } from "../layout/colors.ts";
import type { Strips } from "../layout/display.ts";
import type { Theme } from "./theme.ts";

const table = new Map<Theme, Uint32Array>();

/** The colour of every (code, shade), 256 x 256, in the image's pixel format. */
function colours(theme: Theme): Uint32Array {
  let lookup = table.get(theme);
  if (lookup) return lookup;
  lookup = new Uint32Array(65536);
  for (let code = 0; code < 256; code++) {
    const fill = (code & EDGE ? theme.edges : theme.fills)[code & ~EDGE] ?? theme.quiet;
    for (let shade = 1; shade < 256; shade++) {
      const [r, g, b] = fill.map((c, i) => Math.round(theme.ground[i]! + ((c - theme.ground[i]!) * shade) / 255));
      lookup[code * 256 + shade] = ((255 << 24) | (b! << 16) | (g! << 8) | r!) >>> 0;
    }
  }
  table.set(theme, lookup);
  return lookup;
}

const scratch = { canvas: null as HTMLCanvasElement | null };

export function drawStrips(context: CanvasRenderingContext2D, strips: Strips, width: number, theme: Theme): void {
  const rows = strips.tops.length;
  if (rows === 0) return;
  const lookup = colours(theme);
  const image = new ImageData(strips.pixels, rows);
  const words = new Uint32Array(image.data.buffer);
  for (let i = 0; i < words.length; i++) words[i] = lookup[strips.codes[i]! * 256 + strips.shades[i]!]!;
  const canvas = (scratch.canvas ??= document.createElement("canvas"));
  if (canvas.width < strips.pixels || canvas.height < rows) {
    canvas.width = Math.max(canvas.width, strips.pixels);
    canvas.height = Math.max(canvas.height, rows);
  }
  canvas.getContext("2d", { willReadFrequently: true })!.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  for (let row = 0; row < rows; row++)
    context.drawImage(canvas, 0, row, strips.pixels, 1, 0, strips.tops[row]!, width, strips.heights[row]!);
}
