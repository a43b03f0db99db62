// Colours of the canvas in the light and the dark theme. Hues are spaced evenly in OKLCH at one lightness, so that no
// name stands out by chance, and text on them has sufficient contrast (a test computes it).

import {
  CAUSES, codeOfKind, CRITICAL, DIMMED, FIRST_HOST, FIRST_HUE, HOST_HUES, HUES, KINDS, LOADING, PHASES, SHADES, WORK,
} from "../layout/colors.ts";

export type Rgb = readonly [number, number, number];

export interface Theme {
  ground: Rgb;
  raised: Rgb;
  line: Rgb;
  text: Rgb;
  quiet: Rgb;
  accent: Rgb;
  onSlice: Rgb; // text on slices
  fills: Rgb[]; // by code
  edges: Rgb[]; // the same, a shade darker or lighter
}

/** OKLCH to sRGB (Ottosson, "A perceptual color space for image processing", 2020). */
export function oklch(lightness: number, chroma: number, hue: number): Rgb {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const [red, green, blue] = linear.map((x) => {
    const v = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(1, Math.max(0, v)));
  });
  return [red!, green!, blue!];
}

const PHASE_HUES = [55, 250, 155, 310, 5, 100, 0];

function fills(lightness: number, chroma: number, quiet: Rgb, critical: Rgb): Rgb[] {
  const out: Rgb[] = [];
  for (let i = 0; i < HUES; i++) out[FIRST_HUE + i] = oklch(lightness, chroma, 20 + (i * 360) / HUES);
  KINDS.forEach((kind, at) => {
    const hue = 25 + at * (360 / (KINDS.length - 1));
    for (let shade = 0; shade < SHADES; shade++)
      out[codeOfKind(at, shade)] = oklch(lightness, kind === "other" ? 0.02 : chroma * 1.1, hue + (shade - 1) * 11);
  });
  for (let i = 0; i < HOST_HUES; i++) out[FIRST_HOST + i] = oklch(lightness, chroma * 0.4, 10 + (i * 360) / HOST_HUES);
  // Causes: warm to cold, then between these, unknown grey; letters and patterns distinguish them without colour.
  CAUSES.forEach((cause, i) => {
    const hue = 40 + i * 33 + (i < 11 ? 0 : 14);
    out[cause.code] = oklch(lightness, cause.letter === "?" ? 0.01 : chroma * 1.15, hue);
  });
  PHASES.forEach((phase, i) => {
    out[phase.code] = oklch(lightness, phase.letter === "?" || phase.letter === "0" ? 0.02 : chroma, PHASE_HUES[i]!);
  });
  out[WORK] = oklch(lightness, chroma, 250);
  out[DIMMED] = quiet;
  out[LOADING] = quiet;
  out[CRITICAL] = critical;
  return out;
}

const shaded = (colors: Rgb[], by: number): Rgb[] =>
  colors.map((color) => color.map((c) => Math.max(0, Math.round(c * by))) as unknown as Rgb);

const lightFills = fills(0.645, 0.12, [214, 217, 222], [200, 20, 60]);
const darkFills = fills(0.53, 0.09, [58, 63, 72], [255, 120, 140]);

export const LIGHT: Theme = {
  ground: [255, 255, 255],
  raised: [244, 245, 247],
  line: [211, 215, 222],
  text: [27, 31, 39],
  quiet: [84, 92, 107],
  accent: [11, 87, 194],
  onSlice: [20, 22, 28],
  fills: lightFills,
  edges: shaded(lightFills, 0.78),
};

export const DARK: Theme = {
  ground: [20, 23, 28],
  raised: [29, 33, 40],
  line: [54, 60, 71],
  text: [230, 233, 238],
  quiet: [162, 170, 184],
  accent: [127, 178, 255],
  onSlice: [244, 246, 250],
  fills: darkFills,
  edges: shaded(darkFills, 0.62),
};

export const css = ([r, g, b]: Rgb, alpha = 1): string =>
  alpha === 1 ? `rgb(${r} ${g} ${b})` : `rgb(${r} ${g} ${b} / ${alpha})`;

/** Contrast ratio of two colours by WCAG, 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const luminance = (color: Rgb) => {
    const [r, g, bl] = color.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * bl!;
  };
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light! + 0.05) / (dark! + 0.05);
}
