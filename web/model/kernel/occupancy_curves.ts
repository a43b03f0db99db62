// Theoretical occupancy of one launch over one of its resources, from the analysis `occupancy_curves`. A value between
// two points has the occupancy of the higher one.

import { cellOf, numberOf, textOf, type ReportTable } from "../recording/report.ts";

export interface CurvePoint {
  value: number; // threads, registers or bytes
  occupancy_pct: number | null; // null: no block fits
  limiter: string | null;
  blocks: number | null; // per multiprocessor
}

export interface OccupancyCurve {
  resource: string; // "threads", "registers" or "shared_bytes"
  points: CurvePoint[]; // by value
  own: CurvePoint; // of the launch
  raised_by: string | null; // the change of this resource that raises the occupancy; null: none does
}

export function occupancyCurvesOf(table: ReportTable | null): OccupancyCurve[] {
  const curves = new Map<string, Omit<OccupancyCurve, "own"> & { own: CurvePoint | null }>();
  table?.rows.forEach((_, row) => {
    const value = numberOf(table, row, "value");
    const resource = textOf(table, row, "resource");
    if (value === null || resource === null) return;
    const [occupancy_pct, blocks] = [numberOf(table, row, "occupancy_pct"), numberOf(table, row, "blocks_per_sm")];
    const point = { value, occupancy_pct, limiter: textOf(table, row, "limiter"), blocks };
    const curve = curves.get(resource) ?? { resource, points: [], own: null, raised_by: null };
    curves.set(resource, curve);
    curve.points.push(point);
    if (cellOf(table, row, "own") !== true) return;
    curve.own = point;
    curve.raised_by = textOf(table, row, "raised_by");
  });
  return [...curves.values()].flatMap(({ own, ...curve }) => (own === null ? [] : [{ ...curve, own }]));
}

/** Neighbours of the same occupancy, limiter and number of blocks as one: its last point. The launch's own stays. */
export function stepsOf({ points, own }: OccupancyCurve): CurvePoint[] {
  const same = (a: CurvePoint, b: CurvePoint) =>
    a.occupancy_pct === b.occupancy_pct && a.limiter === b.limiter && a.blocks === b.blocks;
  return points.filter((point, i) => point === own || i + 1 === points.length || !same(point, points[i + 1]!));
}
