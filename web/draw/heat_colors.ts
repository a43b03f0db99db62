// Colours of the page of a job. Every shade of the heat map, and every part of a bar, has a contrast of at least 3:1
// with the ground of its theme (a test computes it), so that the best cell is also visible. Lightness alone tells the
// order of shades; the hue runs with it from blue to red or yellow.

import { DARK, LIGHT, oklch, type Rgb, type Theme } from "./theme.ts";

export interface JobColors {
  shades: Rgb[]; // 0 is not used: lost cells are hatched
  hatch: Rgb;
  parts: Map<string, Rgb>;
}

const HUES: readonly [part: string, hue: number, chroma: number][] = [
  ["compute", 255, 0.13],
  ["transfer", 310, 0.12],
  ["wait", 20, 0.02],
  ["copy", 195, 0.09],
  ["input", 55, 0.13],
  ["host", 25, 0.16],
  ["unknown", 110, 0.04],
];

function colorsOf(ground: Theme, from: readonly number[], to: readonly number[], partLightness: number): JobColors {
  const shades = Array.from({ length: 256 }, (_, i) => {
    const part = Math.max(0, i - 1) / 254;
    const [lightness, chroma, hue] = from.map((start, k) => start + (to[k]! - start) * part);
    return oklch(lightness!, chroma!, hue!);
  });
  const parts = new Map(HUES.map(([name, hue, chroma]) => [name, oklch(partLightness, chroma, hue)]));
  return { shades, hatch: ground.quiet, parts };
}

// Lightness, chroma, hue of the best and of the worst shade.
const light = colorsOf(LIGHT, [0.66, 0.1, 235], [0.3, 0.17, 385], 0.6);
const dark = colorsOf(DARK, [0.51, 0.09, 255], [0.94, 0.14, 465], 0.62);

export const jobColors = (theme: Theme): JobColors => (theme === DARK ? dark : light);
