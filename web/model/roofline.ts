// Operators with known arithmetic, and the device's limits, out of the analysis `arithmetic`. A limit is not a column of
// its own: it is the achieved rate over the share of the limit that it is said to be.

import { numberOf, textOf, type ReportTable } from "./report.ts";

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

/** Those that have a place on two logarithmic axes. */
export function operatorsOf(table: ReportTable): Operator[] {
  return table.rows.flatMap((_, row) => {
    const [intensity, flop_per_s] = [numberOf(table, row, "flop_per_byte"), numberOf(table, row, "flop_per_s")];
    if (intensity === null || flop_per_s === null || intensity <= 0 || flop_per_s <= 0) return [];
    const text = (column: string) => textOf(table, row, column) ?? "";
    return [{ row, name: text("name"), shapes: text("shapes"), math: text("math"), intensity, flop_per_s, device_ns: numberOf(table, row, "device_ns") ?? 0 }];
  });
}

/** Bandwidth in bytes a second (null: not known), and one roof for each kind of arithmetic, the highest first. */
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

/** Kinds of arithmetic with one peak are one roof; rates and shares are rounded, so equal means to a thousandth. */
function merged(roofs: Roof[]): Roof[] {
  const out: Roof[] = [];
  for (const roof of roofs.sort((a, b) => b.flop_per_s - a.flop_per_s)) {
    const last = out[out.length - 1];
    if (last !== undefined && last.flop_per_s / roof.flop_per_s < 1.001) last.math += `, ${roof.math}`;
    else out.push({ ...roof });
  }
  return out;
}
