// Rows of a table as text, in display order and with the shown columns: CSV with exact values, as the program writes
// it, or Markdown as the page shows it.

import type { Cell, ReportTable } from "../recording/report.ts";
import { csvHead, csvLine } from "./csv.ts";
import type { ShownRows } from "./table_shape.ts";

export interface TextFormat {
  head: (table: ReportTable, columns: readonly number[]) => string;
  line: (table: ReportTable, columns: readonly number[], cells: readonly Cell[]) => string;
}

export const CSV: TextFormat = { head: csvHead, line: csvLine };

const PIECE = 4096; // rows per text

/** The lines of all rows, in pieces; rows that are not in memory are read. */
export async function textOfRows(
  { table, source, rows }: ShownRows, columns: readonly number[], format: TextFormat,
  onProgress: (done: number) => void,
): Promise<string[]> {
  const pieces = [format.head(table, columns)];
  for (let from = 0; from < rows.length; from += PIECE) {
    const piece = Array.from({ length: Math.min(PIECE, rows.length - from) }, (_, at) => rows[from + at]!);
    const read = await source.read(piece);
    pieces.push(read.map((cells) => format.line(table, columns, cells)).join(""));
    onProgress(Math.min(from + PIECE, rows.length));
    await new Promise((resume) => setTimeout(resume));
  }
  return pieces;
}
