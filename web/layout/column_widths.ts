// Widths of a table's columns in characters, computed over all rows so that scrolling does not change them. Texts
// longer than `most` are cut; the full text is the cell's tooltip.

import type { ReportTable } from "../model/report.ts";
import { cellText } from "./cell_text.ts";

const LEAST = 6;

export function columnWidths(table: ReportTable, most: number): number[] {
  return table.columns.map((column, at) => {
    const longest = table.rows.reduce((sofar, row) => Math.max(sofar, cellText(row[at] ?? null, column).length), 0);
    return Math.min(most, Math.max(LEAST, longest, column.name.length + 2));
  });
}
