// Counters: for each device pixel, a column with the area below the mean, the band from lowest to highest, and a
// stepped line of means. All plots go into one image, like the rows of slices: without a GPU, paths with thousands of
// edges are slow, while an image costs only its pixels.

import type { Plot } from "../layout/display.ts";
import type { Pen } from "./pen.ts";
import { css, type Rgb, type Theme } from "./theme.ts";

export const AREA = 0.18; // opacities
export const BAND = 0.45;
const scratch = { canvas: null as HTMLCanvasElement | null, image: null as ImageData | null };

/** A cleared image of this size; the previous frame's image if it fits. */
function clearImage(width: number, height: number): ImageData {
  const { image } = scratch;
  if (image === null || image.width !== width || image.height !== height)
    return (scratch.image = new ImageData(width, height));
  image.data.fill(0);
  return image;
}

export function drawPlots(
  context: CanvasRenderingContext2D, plots: readonly Plot[], width: number, scale: number, theme: Theme,
): void {
  const first = plots[0];
  if (!first) return;
  const pixels = first.mean.length;
  const heights = plots.map((plot) => Math.ceil(plot.height * scale));
  const image = clearImage(pixels, heights.reduce((sum, height) => sum + height, 0));
  const words = new Uint32Array(image.data.buffer);
  let top = 0;
  plots.forEach((plot, i) => {
    fill(words, pixels, top, heights[i]!, plot, scale, theme.accent);
    top += heights[i]!;
  });
  const canvas = (scratch.canvas ??= document.createElement("canvas"));
  if (canvas.width < pixels || canvas.height < image.height) {
    canvas.width = Math.max(canvas.width, pixels);
    canvas.height = Math.max(canvas.height, image.height);
  }
  canvas.getContext("2d", { willReadFrequently: true })!.putImageData(image, 0, 0);
  top = 0;
  plots.forEach((plot, i) => {
    context.drawImage(canvas, 0, top, pixels, heights[i]!, 0, plot.top, width, plot.height);
    top += heights[i]!;
    drawAxis(context, plot, theme);
  });
}

/** A colour as a pixel of an image: 0xAABBGGRR. */
export const pixelOf = ([r, g, b]: Rgb, alpha: number): number =>
  ((Math.round(255 * alpha) << 24) | (b << 16) | (g << 8) | r) >>> 0;

function fill(
  words: Uint32Array, pixels: number, top: number, height: number, plot: Plot, scale: number, color: Rgb,
): void {
  const [area, band, line] = [pixelOf(color, AREA), pixelOf(color, BAND), pixelOf(color, 1)];
  const at = (y: number) => Math.min(height - 1, Math.max(0, Math.round((y - plot.top) * scale)));
  const base = at(plot.axis[1]!.y);
  let before = -1;
  for (let x = 0; x < pixels; x++) {
    if (Number.isNaN(plot.mean[x]!)) {
      before = -1;
      continue;
    }
    const mean = at(plot.mean[x]!);
    column(words, pixels, x, top, Math.min(mean, base), Math.max(mean, base), area);
    if (plot.band) column(words, pixels, x, top, at(plot.high[x]!), at(plot.low[x]!), band);
    const from = before < 0 ? mean : before;
    column(words, pixels, x, top, Math.min(from, mean), Math.max(from, mean), line);
    before = mean;
  }
}

function column(
  words: Uint32Array, pixels: number, x: number, top: number, from: number, to: number, value: number,
): void {
  for (let y = from, i = (top + from) * pixels + x; y <= to; y++, i += pixels) words[i] = value;
}

export function drawAxis(context: Pen, plot: Plot, theme: Theme): void {
  plot.axis.forEach((mark, i) => {
    const y = Math.round(mark.y) + (i === 0 ? 6 : -6);
    context.fillStyle = css(theme.ground, 0.75);
    context.fillRect(2, y - 6, context.measureText(mark.text).width + 4, 12);
    context.fillStyle = css(theme.quiet);
    context.fillText(mark.text, 4, y);
  });
}
