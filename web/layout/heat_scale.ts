// How bad a value of a quantity is, as a shade from 1 (as good as usual) to 255 (the worst). The scale is linear near
// usual values and logarithmic far from them, so that one bad cell neither hides in the others nor makes them look
// equal. Differences of less than a hundredth of a step are small whatever the others are: the scale does not magnify
// noise.

import type { Quantity } from "../model/job/job.ts";
import { amount } from "./time_text.ts";

const MATERIAL = 0.01; // of a step
const WORST = 5; // times that, at least

/** What is large enough to matter, in ns; 0 for quantities that are no times. */
export const materialTime = ({ unit }: Quantity, stepTime: number): number => (unit === "ns" ? MATERIAL * stepTime : 0);

export class HeatScale {
  private readonly base: number;
  private readonly knee: number;
  private readonly top: number; // asinh of the worst value

  constructor(
    private readonly quantity: Quantity,
    stepTime: number,
  ) {
    const { lowIsBad, compares, least, low, middle, high, most } = quantity;
    const best = lowIsBad ? high : low;
    this.base = compares ? 0 : best;
    const worst = Math.max(Math.abs((lowIsBad ? least : most) - this.base), WORST * materialTime(quantity, stepTime));
    this.knee = Math.max(Math.abs(middle - this.base), materialTime(quantity, stepTime)) || worst / 100 || 1;
    this.top = Math.asinh(worst / this.knee) || 1;
  }

  shade(value: number): number {
    const over = this.quantity.lowIsBad ? this.base - value : value - this.base;
    return 1 + Math.round(254 * Math.min(1, Math.asinh(Math.max(0, over) / this.knee) / this.top));
  }

  /** The value at a part of the scale, 0 to 1. */
  valueAt(part: number): number {
    const over = this.knee * Math.sinh(part * this.top);
    return this.quantity.lowIsBad ? this.base - over : this.base + over;
  }

  ticks(count: number): { part: number; text: string }[] {
    return Array.from({ length: count }, (_, i) => {
      const part = i / (count - 1);
      return { part, text: quantityText(this.valueAt(part), this.quantity) };
    });
  }
}

/** A value with its unit; signed if the quantity compares with others. */
export function quantityText(value: number, { unit, compares }: Quantity): string {
  if (Number.isNaN(value)) return "unknown";
  const text = amount(unit === "ns" ? Math.round(value) : Number(value.toPrecision(4)), unit);
  return compares && value > 0 ? `+${text}` : text;
}
