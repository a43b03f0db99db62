// Kernels with counters, from the analysis `limits`: what holds each back, in a sentence. The launch that stands for a
// kernel identifies it, because several rows can share a handle (one name, launched in different shapes).

import { columnOf, numberOf, tableOf, textOf, type Report, type ReportTable } from "../recording/report.ts";

export interface MeasuredKernel {
  row: number; // of `limits`; also its place among the kernels of the manifest
  launch: number | null;
  handle: string;
  name: string;
  blocks: number | null;
  threads: number | null; // per block
  launches: number;
  total_ns: number;
  share_pct: number;
  limit: string;
  compute_pct: number | null;
  memory_pct: number | null;
  because: string;
}

export function measuredKernels(report: Report): MeasuredKernel[] {
  const table = tableOf(report, "limits");
  if (table === null) return [];
  return table.rows.map((_, row) => {
    const number = (column: string) => numberOf(table, row, column);
    const text = (column: string) => textOf(table, row, column) ?? "";
    return {
      row,
      launch: number("launch"),
      handle: text("kernel"),
      name: text("name"),
      blocks: number("blocks"),
      threads: number("threads"),
      launches: number("launches") ?? 0,
      total_ns: number("total_ns") ?? 0,
      share_pct: number("share_pct") ?? 0,
      limit: text("limit"),
      compute_pct: number("compute_pct"),
      memory_pct: number("memory_pct"),
      because: text("because"),
    };
  });
}

/** The sentence without the limit that it begins with. */
export function reasonOf({ limit, because }: MeasuredKernel): string {
  return because.startsWith(`${limit}: `) ? because.slice(limit.length + 2) : because;
}

/** The row of `limits` that a row of an analysis of measured kernels is about: of the same launch, otherwise of the
    same handle. null: the table is about something else, or no kernel matches. */
export function rowOfKernel(report: Report, table: ReportTable, row: number): number | null {
  const limits = tableOf(report, "limits");
  if (limits === null || !isAboutLaunches(table)) return null;
  const find = (column: string, wanted: unknown) =>
    wanted === null ? -1 : (columnOf(limits, column)?.indexOf(wanted as never) ?? -1);
  const byLaunch = find("launch", numberOf(table, row, "launch"));
  const found = byLaunch >= 0 ? byLaunch : find("kernel", textOf(table, row, "kernel"));
  return found < 0 ? null : found;
}

const ABOUT_LAUNCHES = new Set("limits advice stalls occupancy_curves roofline metrics tool_advice".split(" "));

const ABOUT_LINES = new Set(["source", "line_stalls"]);

export const isAboutLines = (table: ReportTable): boolean => ABOUT_LINES.has(table.name);

export const isAboutLaunches = (table: ReportTable): boolean => ABOUT_LAUNCHES.has(table.name);
