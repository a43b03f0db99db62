// The display list: the content of a frame as plain data. Layout creates it, draw/ draws it on the canvas, tests
// inspect it. Lengths are css pixels from the top left of the canvas, unless they say "device". Colours are codes
// (colors.ts).

import type { Tick } from "./ticks.ts";

/** Rows of slices: row i is drawn `tops[i]` .. + `heights[i]`, its pixels are codes[i * pixels ...]. */
export interface Strips {
  pixels: number; // device pixels per row
  tops: number[];
  heights: number[];
  codes: Uint8Array;
  shades: Uint8Array; // 0: empty, 255: fully covered
}

export interface Label {
  x: number;
  y: number; // middle of the row
  text: string;
  code: number;
  plate?: number; // width of the ground under a text that a curve would cross
}

/** An area with a pattern, so that it can be distinguished without colour. */
export interface Hatch {
  x: number;
  y: number;
  width: number;
  height: number;
  code: number;
}

/** A counter: for each device pixel the lowest, mean and highest value as y; NaN if absent. */
export interface Plot {
  top: number;
  height: number;
  low: Float32Array;
  mean: Float32Array;
  high: Float32Array;
  band: boolean; // low and high differ
  axis: { y: number; text: string }[];
}

/** The busy share of equal pieces of x0 .. x1. */
export interface Busy {
  shares: number[];
  x0: number;
  x1: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Arrow {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/** A stretch of time, over all tracks. */
export interface Band {
  x0: number;
  x1: number;
}

export interface Area {
  top: number; // on the canvas; clipped to top .. top + height
  height: number;
  strips: Strips;
  labels: Label[];
  hatches: Hatch[];
  plots: Plot[];
  separators: number[]; // y
  selected: Box[];
  critical: Strips; // bands under the rows that the critical path runs through
  marks: { x: number; y: number }[]; // tops of rows where a highlighted event starts
}

export interface Scene {
  width: number;
  height: number;
  scale: number; // device pixels per css pixel
  ruler: { top: number; height: number; base: string | null; ticks: (Tick & { x: number })[] };
  minimap: { top: number; height: number; busy: Busy | null; from: number; to: number };
  areas: Area[]; // pinned, rest
  range: { x0: number; x1: number; text: string } | null;
  kept: { x0: number; x1: number; text: string }[]; // on the ruler
  cursor: { x: number; text: string } | null;
  arrows: Arrow[];
  answer: Band[]; // rows of an SQL answer
  links: Arrow[]; // of the critical path, from one track to another
}
