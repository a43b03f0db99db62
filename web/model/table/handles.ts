// Splits sentences of the report into plain text and references. `gap-3` is row 3 of the table whose rows are called
// gap; `memcpy` in backticks is the table of that name. References to missing tables remain text. Another word in
// backticks is code.

import { columnOf, type Report, type ReportTable } from "../recording/report.ts";

export interface Reference {
  table: ReportTable;
  row: number | null; // index in table.rows; null: the table as a whole
}

export interface Piece {
  text: string;
  to: Reference | null;
  isCode?: true;
}

const REFERENCE = /(?<![\w-])([a-z]+)-(\d+)(?![\w-])|`([\w.=-]+)`/g;

export function piecesOf(report: Report, sentence: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const found of sentence.matchAll(REFERENCE)) {
    const [text, prefix, number, name] = found;
    const to = name === undefined ? rowOf(report, prefix!, Number(number)) : tableOf(report, name);
    if (to === null && name === undefined) continue;
    if (found.index > at) pieces.push({ text: sentence.slice(at, found.index), to: null });
    pieces.push(to === null ? { text: name ?? text, to, isCode: true } : { text: name ?? text, to });
    at = found.index + text.length;
  }
  if (at < sentence.length) pieces.push({ text: sentence.slice(at), to: null });
  return pieces;
}

/** k-3 is a row of `kernels` or, in a recording without a timeline, the first row of `limits` with that handle. Handles
    count from 1. Two tables can share a prefix, but never both have rows in one recording. */
function rowOf(report: Report, prefix: string, number: number): Reference | null {
  const table = report.tables.find((each) => each.handle_prefix === prefix && each.rows.length >= number);
  if (table) return number > 0 ? { table, row: number - 1 } : null;
  const limits = report.tables.find((each) => each.name === "limits");
  const row = (limits && columnOf(limits, "kernel")?.indexOf(`${prefix}-${number}`)) ?? -1;
  return limits && row >= 0 ? { table: limits, row } : null;
}

function tableOf(report: Report, name: string): Reference | null {
  const table = report.tables.find((each) => each.name === name);
  return table ? { table, row: null } : null;
}
