// Operators with known arithmetic, and the device's limits, from the analysis `arithmetic`. It has no column for a
// limit, which is computed as the achieved rate over its share of the limit.

import { numberOf, textOf, type ReportTable } from "../recording/report.ts";

export interface Operator {
  row: number;
  name: string;
  shapes: string;
  math: string;
  intensity: number; // FLOP/byte
  flop_per_s: number;
  device_ns: number;
}

export interface Roof {
  math: string;
  flop_per_s: number;
}

/** Operators that fit on two logarithmic axes, that is, with positive values. */
export function operatorsOf(table: ReportTable): Operator[] {
  return table.rows.flatMap((_, row) => {
    const [intensity, flop_per_s] = [numberOf(table, row, "flop_per_byte"), numberOf(table, row, "flop_per_s")];
    if (intensity === null || flop_per_s === null || intensity <= 0 || flop_per_s <= 0) return [];
    const text = (column: string) => textOf(table, row, column) ?? "";
    const [name, shapes, math] = [text("name"), text("shapes"), text("math")];
    return [{ row, name, shapes, math, intensity, flop_per_s, device_ns: numberOf(table, row, "device_ns") ?? 0 }];
  });
}

/** Bandwidth in bytes per second (null: unknown), and one roof per kind of arithmetic, highest first. */
export function roofsOf(table: ReportTable): { bandwidth: number | null; roofs: Roof[] } {
  const limit = (row: number, rate: string, share: string) => {
    const [achieved, pct] = [numberOf(table, row, rate), numberOf(table, row, share)];
    return achieved !== null && pct !== null && pct > 0 ? achieved / (pct / 100) : null;
  };
  const roofs = new Map<string, number>();
  let bandwidth: number | null = null;
  table.rows.forEach((_, row) => {
    const gb_per_s = limit(row, "gb_per_s", "bandwidth_pct");
    if (gb_per_s !== null) bandwidth ??= gb_per_s * 1e9;
    const peak = limit(row, "flop_per_s", "compute_pct");
    const math = textOf(table, row, "math");
    if (peak !== null && math !== null && !roofs.has(math)) roofs.set(math, peak);
  });
  return { bandwidth, roofs: merged([...roofs].map(([math, flop_per_s]) => ({ math, flop_per_s }))) };
}

/** Kinds of arithmetic with the same peak share one roof. Rates and shares are rounded, so peaks within 0.1 % count as
    equal. */
function merged(roofs: Roof[]): Roof[] {
  const out: Roof[] = [];
  for (const roof of roofs.sort((a, b) => b.flop_per_s - a.flop_per_s)) {
    const last = out[out.length - 1];
    if (last !== undefined && last.flop_per_s / roof.flop_per_s < 1.001) last.math += `, ${roof.math}`;
    else out.push({ ...roof });
  }
  return out;
}
