// A list of table names with row counts.

import { grouped } from "../../layout/time_text.ts";
import { tableTitle } from "../../model/table/heading.ts";
import type { ReportTable } from "../../model/recording/report.ts";

type TableListProps = { tables: readonly ReportTable[]; shown: ReportTable; onShow: (name: string) => void };

export function TableList({ tables, shown, onShow }: TableListProps) {
  const lookOf = (table: ReportTable) => ({
    class: table.row_count === 0 ? "empty" : "",
    "aria-current": table === shown ? ("page" as const) : undefined,
  });
  const countOf = ({ row_count }: ReportTable) => (row_count === 0 ? "none" : grouped(row_count));
  return (
    <nav class="list" aria-label="Tables">
      {tables.map((table) => (
        <button key={table.name} {...lookOf(table)} onClick={() => onShow(table.name)}>
          <span>{tableTitle(table.name)}</span> <small>{countOf(table)}</small>
        </button>
      ))}
    </nav>
  );
}
