// The roofline of one launch, from the analysis `roofline`: a point per number format and level of memory, a roof per
// number format, and a slope per level.

import { numberOf, textOf, type ReportTable } from "../recording/report.ts";

export const LEVELS = ["DRAM", "L2", "L1"] as const;

export interface RooflinePoint {
  precision: string;
  level: string;
  intensity: number; // FLOP/byte
  flop_per_s: number;
  roof: number | null; // FLOP/s, at this intensity
  of_roof_pct: number | null;
}

export interface KernelRoofline {
  points: RooflinePoint[];
  roofs: Map<string, number>; // FLOP/s, by number format
  slopes: Map<string, number>; // bytes/s, by level
}

/** Only points that fit on logarithmic axes, that is, with positive values. */
export function kernelRooflineOf(table: ReportTable | null): KernelRoofline {
  const found: KernelRoofline = { points: [], roofs: new Map(), slopes: new Map() };
  table?.rows.forEach((_, row) => {
    const number = (column: string) => numberOf(table, row, column);
    const [precision, level] = [textOf(table, row, "precision") ?? "", textOf(table, row, "level") ?? ""];
    const figures = ["flop_per_byte", "flop_per_s", "peak_flop_per_s", "peak_bytes_per_s"].map(number);
    const [intensity, flop_per_s, peak, bandwidth] = figures as [number, number, number, number];
    if (peak !== null && peak > 0) found.roofs.set(precision, peak);
    if (bandwidth !== null && bandwidth > 0) found.slopes.set(level, bandwidth);
    if (intensity === null || flop_per_s === null || !(intensity > 0) || !(flop_per_s > 0)) return;
    const [roof, of_roof_pct] = [number("roof_flop_per_s"), number("of_roof_pct")];
    found.points.push({ precision, level, intensity, flop_per_s, roof, of_roof_pct });
  });
  return found;
}
