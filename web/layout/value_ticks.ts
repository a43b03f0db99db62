// Round values along an axis with their unit: 1, 2 or 5 times a power of ten; for bytes a power of two; on logarithmic
// axes powers of ten, and 2 and 5 times them if they fit. Steps are whole numbers, because counts have no halves.

import { roundStep } from "./ticks.ts";
import { amount, moment, unitFor } from "./time_text.ts";

export interface ValueTick {
  at: number;
  text: string;
}

export function linearTicks(high: number, unit: string | null, wanted: number): ValueTick[] {
  if (!(high > 0)) return [{ at: 0, text: amount(0, unit) }];
  const raw = high / wanted;
  const step = unit === "bytes" || unit === "MiB" ? 2 ** Math.ceil(Math.log2(Math.max(raw, 1))) : roundStep(raw);
  const count = Math.floor(high / step + 1e-9);
  // Times share one unit; round amounts need no decimals.
  const text = (value: number) =>
    unit === "ns" ? moment(value, step, unitFor(high)) : amount(value, unit).replace(/\.0+(?= )/, "");
  return Array.from({ length: count + 1 }, (_, i) => ({ at: i * step, text: text(i * step) }));
}

/** Requires low and high above 0. */
export function logTicks(low: number, high: number, text: (value: number) => string): ValueTick[] {
  const powers = Math.log10(high / low);
  if (powers < 0.6) return between(low, high, text);
  const factors = powers < 3 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(powers / 8));
  const ticks: ValueTick[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
    for (const factor of power % every === 0 ? factors : []) {
      const at = factor * 10 ** power;
      if (at >= low * (1 - 1e-9) && at <= high * (1 + 1e-9)) ticks.push({ at, text: text(at) });
    }
  return ticks;
}

/** Evenly spaced, because over a short range a logarithmic axis is almost linear. */
function between(low: number, high: number, text: (value: number) => string): ValueTick[] {
  const step = roundStep((high - low) / 6);
  const first = Math.ceil(low / step);
  const count = Math.max(0, Math.floor(high / step) - first + 1);
  return Array.from({ length: count }, (_, i) => ({ at: (first + i) * step, text: text((first + i) * step) }));
}
