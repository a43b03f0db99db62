// The surface of a vector picture. Rows of slices become one path per colour, of the runs of equal pixels in the
// display list; counters become an area, a band and a stepped line; cells of a heat map are an image, because they are
// one.

import { EDGE } from "../layout/colors.ts";
import type { Hatch, Plot, Strips } from "../layout/display.ts";
import { AREA, BAND, drawAxis } from "./plots.ts";
import type { Cells, Surface } from "./pen.ts";
import { hatchKind } from "./hatches.ts";
import { boxOf, newId, num, paint, SvgPen, xml } from "./svg_pen.ts";
import { css, type Rgb, type Theme } from "./theme.ts";
import { linesOf, LINES } from "./strips.ts";

export class SvgSurface implements Surface {
  readonly pen: SvgPen;
  private readonly patterns = new Map<string, string>();

  /** `imageOf` gives the address of an image with these pixels, one per cell. */
  constructor(
    measure: (text: string, font: string) => number,
    private readonly imageOf: (columns: number, lines: number, colors: Uint32Array) => string = () => "",
  ) {
    this.pen = new SvgPen(measure);
  }

  strips(strips: Strips, width: number, theme: Theme): void {
    const { pixels, tops, heights, codes, shades } = strips;
    const paths = new Map<number, string[]>(); // by code
    const step = width / pixels;
    const keyAt = (at: number): number => (shades[at] === 0 ? 0 : codes[at]! * 256 + linesOf(shades[at]!));
    tops.forEach((top, row) => {
      for (let from = 0, base = row * pixels; from < pixels; ) {
        const key = keyAt(base + from);
        let to = from + 1;
        while (to < pixels && keyAt(base + to) === key) to++;
        if (key !== 0) {
          const path = paths.get(key >> 8) ?? [];
          paths.set(key >> 8, path);
          const height = ((key & 255) / LINES) * heights[row]!;
          const [start, width] = [from * step, (to - from) * step];
          const y = top + heights[row]! - height;
          path.push(`M${num(start)} ${num(y)}h${num(width)}v${num(height)}h${num(-width)}z`);
        }
        from = to;
      }
    });
    for (const [code, path] of paths)
      this.path(path.join(""), `${paint("fill", css(colorOf(code, theme)))} shape-rendering="crispEdges"`);
  }

  plots(plots: readonly Plot[], width: number, _: number, theme: Theme): void {
    for (const plot of plots) {
      const step = width / plot.mean.length;
      const base = plot.axis[1]?.y ?? plot.top + plot.height;
      for (const [from, to] of knownRuns(plot.mean)) {
        const start = `M${num(from * step)} `;
        const line = start + stepped(plot.mean, from, to, step);
        this.path(`${line}V${num(base)}H${num(from * step)}z`, paint("fill", css(theme.accent, AREA)));
        if (plot.band) {
          const band = start + stepped(plot.high, from, to, step) + backwards(plot.low, from, to, step);
          this.path(`${band}z`, paint("fill", css(theme.accent, BAND)));
        }
        this.path(line, `fill="none" ${paint("stroke", css(theme.accent))}`);
      }
      drawAxis(this.pen, plot, theme);
    }
  }

  hatches(hatches: readonly Hatch[], theme: Theme): void {
    for (const { x, y, width, height, code } of hatches) {
      const found = hatchKind(code);
      if (found === null) continue;
      const lines = found.lines.map(([x0, y0, x1, y1]) => `M${num(x0)} ${num(y0)}L${num(x1)} ${num(y1)}`).join("");
      this.pen.fillStyle = this.pattern(`${code}`, found.size, lines, css(theme.onSlice, 0.28));
      this.pen.fillRect(x, y, width, height);
    }
  }

  cells({ columns, lines, colors, left, cellWidth, cellHeight }: Cells): void {
    const address = this.imageOf(columns, lines, colors);
    this.pen.parts.push(
      `<image ${boxOf(left, 0, columns * cellWidth, lines * cellHeight)} preserveAspectRatio="none" `,
      `image-rendering="pixelated" href="${xml(address)}"/>`,
    );
  }

  hatching(color: Rgb, scale: number): string {
    const size = Math.max(4, Math.round(5 * scale));
    return this.pattern("lost", size, `M0 ${size}L${size} 0`, css(color));
  }

  /** A fill of lines in tiles. */
  private pattern(key: string, size: number, lines: string, color: string): string {
    let id = this.patterns.get(key);
    if (id === undefined) {
      this.patterns.set(key, (id = newId()));
      this.pen.parts.push(`<pattern id="${id}" width="${size}" height="${size}" patternUnits="userSpaceOnUse">`);
      this.path(lines, `fill="none" ${paint("stroke", color)}`);
      this.pen.parts.push("</pattern>");
    }
    return `url(#${id})`;
  }

  private path(shape: string, attributes: string): void {
    this.pen.parts.push(`<path d="${shape}" ${attributes}/>`);
  }
}

function colorOf(code: number, theme: Theme): Rgb {
  return (code & EDGE ? theme.edges : theme.fills)[code & ~EDGE] ?? theme.quiet;
}

/** Stretches of pixels with values: [from, to). */
function knownRuns(values: Float32Array): [number, number][] {
  const runs: [number, number][] = [];
  for (let at = 0; at < values.length; at++) {
    if (Number.isNaN(values[at]!)) continue;
    const from = at;
    while (at < values.length && !Number.isNaN(values[at]!)) at++;
    runs.push([from, at]);
  }
  return runs;
}

/** From the first value to the right; equal values share a line. */
function stepped(values: Float32Array, from: number, to: number, step: number): string {
  const parts = [num(values[from]!)];
  for (let at = from + 1; at < to; at++)
    if (values[at] !== values[at - 1]) parts.push(`H${num(at * step)}V${num(values[at]!)}`);
  return parts.join("") + `H${num(to * step)}`;
}

function backwards(values: Float32Array, from: number, to: number, step: number): string {
  const parts = [`V${num(values[to - 1]!)}`];
  for (let at = to - 2; at >= from; at--)
    if (values[at] !== values[at + 1]) parts.push(`H${num((at + 1) * step)}V${num(values[at]!)}`);
  return parts.join("") + `H${num(from * step)}`;
}
