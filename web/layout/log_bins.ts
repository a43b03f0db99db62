// A histogram over bins of equal ratio, because durations of one kernel often span powers of ten.

import { firstFrom } from "../model/recording/slices.ts";

export interface Bin {
  from: number; // inclusive
  to: number; // exclusive, except in the last bin
  first: number; // index of its first value
  count: number;
}

/** Values ascend and are positive; a value of 0 counts as 1 ns. */
export function logBins(values: Float64Array, wanted: number): Bin[] {
  if (values.length === 0) return [];
  const low = Math.max(1, values[0]!);
  const high = Math.max(low, values[values.length - 1]!);
  const count = high === low ? 1 : wanted;
  const inner = Array.from({ length: count - 1 }, (_, i) => low * (high / low) ** ((i + 1) / count));
  const edges = [values[0]!, ...inner, high];
  return edges.slice(1).map((to, i) => {
    const first = i === 0 ? 0 : firstFrom(values, edges[i]!);
    const last = i === count - 1 ? values.length : firstFrom(values, to);
    return { from: edges[i]!, to, first, count: last - first };
  });
}
