// The patterns of causes of idle time: one of five kinds of lines in a square tile, always the same for a cause. The
// last cause, unknown, has none.

import { CAUSES, EXPOSED } from "../layout/colors.ts";

export interface HatchKind {
  index: number; // of the cause
  size: number; // of a tile, css pixels
  lines: readonly [x0: number, y0: number, x1: number, y1: number][];
}

export function hatchKind(code: number): HatchKind | null {
  if (code === EXPOSED) return { index: CAUSES.length, size: 6, lines: [[0, 6, 6, 0]] };
  const index = CAUSES.findIndex((cause) => cause.code === code);
  if (index < 0 || index === CAUSES.length - 1) return null;
  const size = 6 + 2 * Math.floor(index / 5);
  const kind = index % 5;
  const lines: [number, number, number, number][] = [];
  if (kind === 0 || kind === 4) lines.push([0, size, size, 0]);
  if (kind === 1 || kind === 4) lines.push([0, 0, size, size]);
  if (kind === 2) lines.push([0.5, 0, 0.5, size]);
  if (kind === 3) lines.push([0, size - 0.5, size, size - 0.5]);
  return { index, size, lines };
}
