// The labels of a heat map: ranks, or the parts of the list where it has parts; numbers of steps.

import type { Job } from "../model/job/job.ts";
import { sectionOf, type RowOrder } from "../model/job/job_order.ts";
import { columnAt, lineOf, type HeatPlace } from "./heat_map.ts";

export interface LineLabel {
  line: number;
  text: string;
  rule: boolean; // a part of the list begins here
}

export interface ColumnLabel {
  column: number;
  text: string;
}

const LINE = 14; // css pixels between two labels
const STEP = 44;

export function lineLabels(job: Job, rows: Uint32Array, order: RowOrder, place: HeatPlace, scale: number): LineLabel[] {
  const labels: LineLabel[] = [];
  let before: string | null = null;
  let next = 0;
  rows.forEach((rank, at) => {
    const section = sectionOf(job, order, rank);
    const line = lineOf(at, rows.length, place);
    if (section === null ? line < next : section === before || line < next) return;
    before = section;
    labels.push({ line, text: section ?? `rank ${job.ranks[rank]!.rank}`, rule: section !== null });
    const least = (LINE * scale) / 2 - place.cellHeight / 2; // the first one is moved down
    const y = Math.max(line * place.cellHeight, least);
    next = Math.max(line + 1, Math.ceil((y + LINE * scale) / place.cellHeight));
  });
  return labels;
}

export const stepTicks = (steps: readonly number[], place: HeatPlace, scale: number): ColumnLabel[] =>
  columnLabels(steps.map(String), place, scale);

/** Texts below the columns, as many as have room. */
export function columnLabels(texts: readonly string[], place: HeatPlace, scale: number): ColumnLabel[] {
  const every = Math.max(1, Math.ceil((STEP * scale) / place.cellWidth));
  const labels: ColumnLabel[] = [];
  let next = 0;
  texts.forEach((text, i) => {
    const column = columnAt(i, texts.length, place);
    if (column < next) return;
    labels.push({ column, text });
    next = column + every;
  });
  return labels;
}

/** Texts next to the lines, as many as have room. */
export function nameLabels(names: readonly string[], place: HeatPlace, scale: number): LineLabel[] {
  const every = Math.ceil((LINE * scale) / place.cellHeight);
  const labels = names.map((text, i) => ({ line: lineOf(i, names.length, place), text, rule: false }));
  return labels.filter((_, i) => i % every === 0);
}
