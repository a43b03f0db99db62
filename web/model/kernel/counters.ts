// The counters of one launch by the vendor's name, from the analysis `metrics`, whatever tool measured them.

import { numberOf, textOf, type ReportTable } from "../recording/report.ts";

export type Counters = ReadonlyMap<string, number>;

export function countersOf(metrics: ReportTable | null): Counters {
  const counters = new Map<string, number>();
  metrics?.rows.forEach((_, row) => {
    const [name, value] = [textOf(metrics, row, "vendor_name"), numberOf(metrics, row, "value")];
    if (name !== null && value !== null) counters.set(name, value);
  });
  return counters;
}

/** The sum of counters that were all collected; null: one of them was not. */
export function sumOf(counters: Counters, ...names: string[]): number | null {
  return names.every((name) => counters.has(name)) ? names.reduce((sum, name) => sum + counters.get(name)!, 0) : null;
}
