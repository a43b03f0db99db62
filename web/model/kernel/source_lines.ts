// The source lines of one kernel, from the analyses `source` and `line_stalls`: samples of warps, why they waited, and
// memory accesses. A line is named by its file and number, which is its place in a link.

import { numberOf, textOf, type ReportTable } from "../recording/report.ts";

export interface LineStall {
  reason: string;
  share_pct: number; // of the line's samples
  waits_for: string;
}

export interface SourceLine {
  key: string; // FILE:LINE; "" without line information
  file: string | null;
  line: number | null;
  device: number | null;
  text: string | null;
  samples: number | null;
  share_pct: number | null; // of the kernel's samples
  stalls: LineStall[]; // largest first
  figures: Record<Figure, number | null>;
}

export const FIGURES = ["sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts", "executed"] as const;
export type Figure = (typeof FIGURES)[number];

export type LineOrder = "share" | "line";

const keyOf = (table: ReportTable, row: number): string =>
  `${textOf(table, row, "file") ?? ""}:${numberOf(table, row, "line") ?? ""}`;
const placeOf = (table: ReportTable, row: number): string =>
  `${numberOf(table, row, "device")} ${textOf(table, row, "name")} ${keyOf(table, row)}`;

/** The line that a row of either analysis is about, as in SourceLine.key. */
export function lineKey(table: ReportTable, row: number): string | null {
  return numberOf(table, row, "line") === null ? null : keyOf(table, row);
}

/** In the order of `source`: most samples first. */
export function sourceLinesOf(source: ReportTable | null, stalls: ReportTable | null): SourceLine[] {
  const byPlace = new Map<string, LineStall[]>();
  stalls?.rows.forEach((_, row) => {
    const place = placeOf(stalls, row);
    const mine = byPlace.get(place) ?? [];
    byPlace.set(place, mine);
    const [reason, waits_for] = [textOf(stalls, row, "reason") ?? "", textOf(stalls, row, "waits_for") ?? ""];
    mine.push({ reason, share_pct: numberOf(stalls, row, "share_pct") ?? 0, waits_for });
  });
  return (source?.rows ?? []).map((_, row) => {
    const number = (column: string) => numberOf(source!, row, column);
    const text = (column: string) => textOf(source!, row, column);
    return {
      key: lineKey(source!, row) ?? "",
      file: text("file"),
      line: number("line"),
      device: number("device"),
      text: text("text"),
      samples: number("samples"),
      share_pct: number("kernel_pct"),
      stalls: byPlace.get(placeOf(source!, row)) ?? [],
      figures: Object.fromEntries(FIGURES.map((name) => [name, number(name)])) as Record<Figure, number | null>,
    };
  });
}

/** By share, or by file and line; lines without a place come last. */
export function orderedLines(lines: readonly SourceLine[], order: LineOrder): SourceLine[] {
  if (order === "share") return [...lines].sort((a, b) => (b.share_pct ?? -1) - (a.share_pct ?? -1));
  return [...lines].sort((a, b) => compareFiles(a.file, b.file) || (a.line ?? Infinity) - (b.line ?? Infinity) || 0);
}

function compareFiles(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return Number(a > b) - Number(a < b);
}

/** The reasons of all lines by their samples, most first. */
export function reasonsOf(lines: readonly SourceLine[]): string[] {
  const total = new Map<string, number>();
  for (const { stalls, samples } of lines)
    for (const { reason, share_pct } of stalls)
      total.set(reason, (total.get(reason) ?? 0) + share_pct * (samples ?? 0));
  return [...total].sort((a, b) => b[1] - a[1]).map(([reason]) => reason);
}
