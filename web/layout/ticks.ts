// The ruler: round times at least `spacing` pixels apart. Where labels would need too many digits (a few nanoseconds,
// late in a recording), they count from a base, which is shown once at the left.

import type { Range } from "../model/recording/range.ts";
import { duration, moment, unitFor } from "./time_text.ts";

export interface Tick {
  at: number; // ns
  label: string;
}

export interface Ticks {
  step: number; // ns
  base: string | null; // the time that "+" counts from
  ticks: Tick[];
}

const MAX_DECIMALS = 4;

/** The smallest 1, 2 or 5 times a power of ten that is at least `ns`, and at least 1 ns. */
export function roundStep(ns: number): number {
  if (!(ns > 1)) return 1;
  const power = 10 ** Math.floor(Math.log10(ns));
  for (const factor of [1, 2, 5]) if (factor * power >= ns * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

export function ticksOf(view: Range, width: number, spacing = 110): Ticks {
  const span = view.to - view.from;
  const step = roundStep((span / Math.max(width, 1)) * spacing);
  const unit = unitFor(Math.max(view.to, step));
  const decimals = Math.log10(unit[0]) - Math.floor(Math.log10(step) + 1e-9);
  const first = Math.ceil(view.from / step) * step;
  const count = Math.max(0, Math.floor((view.to - first) / step) + 1);
  const moments = Array.from({ length: Math.min(count, 1000) }, (_, i) => first + i * step);
  if (decimals <= MAX_DECIMALS)
    return { step, base: null, ticks: moments.map((at) => ({ at, label: moment(at, step, unit) })) };
  const coarse = 10 ** Math.ceil(Math.log10(span) + 1e-9);
  const base = Math.floor(view.from / coarse) * coarse;
  const ticks = moments.map((at) => ({ at, label: at === base ? "0" : offsetText(at - base, step) }));
  return { step, base: `${moment(base, coarse)} +`, ticks };
}

/** An offset from the base, with all digits of the step. */
function offsetText(ns: number, step: number): string {
  return ns < 1000 ? duration(ns) : moment(ns, step);
}
