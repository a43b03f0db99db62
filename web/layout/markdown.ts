// A table as Markdown: headings with units, values as the page shows them, names in full. Text cannot end its cell or
// become markup.

import type { Cell, ReportTable } from "../model/recording/report.ts";
import type { TextFormat } from "../model/table/table_text.ts";
import { isNumeric } from "./cell_text.ts";
import { headingText, type ColumnFormat } from "./column_format.ts";

const escaped = (text: string): string => text.replace(/[\\`*_<[\]|&#~]/g, "\\$&").replace(/\s+/g, " ").trim();

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;

export function markdown(formats: readonly ColumnFormat[]): TextFormat {
  return {
    head: (table: ReportTable, columns) =>
      line(columns.map((at) => escaped(headingText(formats[at]!)))) +
      line(columns.map((at) => (isNumeric(table.columns[at]!) ? "---:" : "---"))),
    line: (_, columns, cells: readonly Cell[]) =>
      line(
        columns.map((at) => escaped(typeof cells[at] === "string" ? cells[at] : formats[at]!.text(cells[at] ?? null))),
      ),
  };
}
