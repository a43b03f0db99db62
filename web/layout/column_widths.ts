// Widths of a table's columns in widths of a digit, measured over the rows of the report so that neither scrolling
// nor a filter changes them. Texts wider than `max` are cut; the full text is the cell's tooltip.

import type { ReportTable } from "../model/recording/report.ts";
import { headingText, type ColumnFormat } from "./column_format.ts";
import type { MeasureText } from "./fit.ts";

const MIN_WIDTH = 6;
const CANDIDATES = 24; // texts of a column that are measured: the ones with the most characters

/** `measure`: in widths of a digit. */
export function columnWidths(
  table: ReportTable, formats: readonly ColumnFormat[], max: number, measure: MeasureText,
): number[] {
  return formats.map((format, at) => {
    const texts = [...new Set(table.rows.map((row) => format.text(row[at] ?? null)))];
    const longest = texts.sort((a, b) => b.length - a.length).slice(0, CANDIDATES);
    const widest = longest.reduce((most, text) => Math.max(most, measure(text)), 0);
    return Math.min(max, Math.max(MIN_WIDTH, Math.ceil(widest), Math.ceil(measure(headingText(format))) + 2));
  });
}
