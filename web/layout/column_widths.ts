// Widths of a table's columns in characters, computed over all rows so that scrolling does not change them. Texts
// longer than `max` are cut; the full text is the cell's tooltip.

import type { ReportTable } from "../model/report.ts";
import { cellText } from "./cell_text.ts";

const MIN_WIDTH = 6;

export function columnWidths(table: ReportTable, max: number): number[] {
  return table.columns.map((column, at) => {
    const longest = table.rows.reduce((widest, row) => Math.max(widest, cellText(row[at] ?? null, column).length), 0);
    return Math.min(max, Math.max(MIN_WIDTH, longest, column.name.length + 2));
  });
}
