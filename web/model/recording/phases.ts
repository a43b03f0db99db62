// The phases of a server's workers, from the analysis `phases`: a row per worker, part of the recording and phase.

import { columnOf, numberOf, tableOf, textOf, type Report } from "./report.ts";

export interface PhaseRow {
  row: number; // of the analysis
  part: "steady" | "all";
  phase: string;
  count: number;
  share: number | null; // percent of the wall time of the part
  p50: number | null;
  p95: number | null;
  wall: number | null;
  idleBefore: number | null;
  idleGraph: number | null;
  idleInside: number | null;
}

export interface WorkerPhases {
  process: string;
  name: string; // empty if there is one worker
  rows: PhaseRow[]; // the steady part first, if there is one
}

export function phasesOf(report: Report): WorkerPhases[] {
  const table = tableOf(report, "phases");
  if (table === null) return [];
  const workers = new Map<string, PhaseRow[]>();
  table.rows.forEach((_, row) => {
    const number = (name: string) => numberOf(table, row, name);
    const process = textOf(table, row, "process") ?? "";
    if (!workers.has(process)) workers.set(process, []);
    workers.get(process)!.push({
      row,
      part: textOf(table, row, "part") === "steady" ? "steady" : "all",
      phase: textOf(table, row, "phase") ?? "unknown",
      count: number("count") ?? 0,
      share: number("share_pct"),
      p50: number("wall_p50_ns"),
      p95: number("wall_p95_ns"),
      wall: number("wall_ns"),
      idleBefore: number("idle_before_ns"),
      idleGraph: number("idle_graph_ns"),
      idleInside: number("idle_inside_ns"),
    });
  });
  const name = (process: string) => (workers.size > 1 ? nameOf(report, process) : "");
  return [...workers].map(([process, rows]) => ({ process, name: name(process), rows }));
}

/** "rank 3" if the iterations have the rank of the worker. */
function nameOf(report: Report, process: string): string {
  const table = tableOf(report, "iterations");
  const row = table === null ? -1 : (columnOf(table, "process") ?? []).indexOf(process);
  const rank = table === null || row < 0 ? null : numberOf(table, row, "rank");
  return rank === null ? `process ${process}` : `rank ${rank}`;
}

/** The rows of the steady part, if there is one, and of all iterations. */
export function partsOf(rows: readonly PhaseRow[]): { title: string; rows: PhaseRow[] }[] {
  const of = (part: PhaseRow["part"]) => rows.filter((row) => row.part === part);
  const parts = [{ title: "Steady part", rows: of("steady") }, { title: "All iterations", rows: of("all") }];
  return parts.filter(({ rows }) => rows.length > 0);
}
