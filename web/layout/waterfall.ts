// Bars of one step over ranks: where each is drawn, and what is under a point.

import { spanAt, type StepBar, type StepPicture } from "../model/job/step_bars.ts";

export interface Waterfall {
  picture: StepPicture;
  bars: StepBar[]; // from top to bottom
  lineOf: Map<number, number>; // by rank
  left: number; // css pixels
  width: number;
  top: number;
  pitch: number; // css pixels from bar to bar
  thick: number;
  height: number; // of everything
}

const ROOM = 560; // css pixels for all bars, if they are many
const THICKEST = 20;
const THINNEST = 3;
const HEAD = 22; // the time axis
const RIGHT = 12;

/** `places`: the place of each rank in the chosen order. */
export function placeWaterfall(picture: StepPicture, places: Uint32Array, width: number, left: number): Waterfall {
  const bars = [...picture.bars].sort((a, b) => places[a.rank]! - places[b.rank]!);
  const pitch = Math.max(THINNEST, Math.min(THICKEST, Math.floor(ROOM / Math.max(1, bars.length))));
  return {
    picture,
    bars,
    lineOf: new Map(bars.map((bar, line) => [bar.rank, line])),
    left,
    width: Math.max(1, width - left - RIGHT),
    top: HEAD,
    pitch,
    thick: pitch - Number(pitch >= 4) - Number(pitch >= 6),
    height: HEAD + bars.length * pitch + 6,
  };
}

export const xOf = ({ picture: { from, to }, left, width }: Waterfall, time: number): number =>
  left + ((time - from) / (to - from)) * width;

export const yOf = ({ top, pitch }: Waterfall, line: number): number => top + line * pitch;

export function barAt(fall: Waterfall, x: number, y: number): { bar: StepBar; span: number; time: number } | null {
  const bar = fall.bars[Math.floor((y - fall.top) / fall.pitch)];
  if (bar === undefined || y < fall.top) return null;
  const { from, to } = fall.picture;
  const time = from + ((x - fall.left) / fall.width) * (to - from);
  return { bar, span: spanAt(bar, time), time };
}

/** How much of the height of its bar a part takes: what is not work is thinner, so that shape tells it, too. */
export function heightOf(part: string): number {
  return new Map([["wait", 0.3], ["unknown", 0.15], ["transfer", 0.65]]).get(part) ?? 1;
}

/** Length of the critical path on a rank, without transfers; 0 if it is not on it. */
export function criticalTime({ path }: StepPicture, rank: number): number {
  return path.reduce((sum, piece) => sum + (piece.rank === rank && !piece.transfer ? piece.to - piece.from : 0), 0);
}
