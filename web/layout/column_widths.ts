// Widths of a table's columns in characters, computed over the rows of the report so that neither scrolling nor a
// filter changes them. Texts longer than `max` are cut; the full text is the cell's tooltip.

import type { ReportTable } from "../model/recording/report.ts";
import { headingText, type ColumnFormat } from "./column_format.ts";

const MIN_WIDTH = 6;

export function columnWidths(table: ReportTable, formats: readonly ColumnFormat[], max: number): number[] {
  return formats.map((format, at) => {
    const longest = table.rows.reduce((widest, row) => Math.max(widest, format.text(row[at] ?? null).length), 0);
    return Math.min(max, Math.max(MIN_WIDTH, longest, headingText(format).length + 2));
  });
}
