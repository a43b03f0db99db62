// A list of table names with row counts.

import { grouped } from "../../layout/time_text.ts";
import { tableTitle } from "../../model/table/heading.ts";
import type { ReportTable } from "../../model/recording/report.ts";

export function TableList({ tables, shown, onShow }: { tables: readonly ReportTable[]; shown: ReportTable; onShow: (name: string) => void }) {
  return (
    <nav class="list" aria-label="Tables">
      {tables.map((table) => (
        <button key={table.name} class={table.row_count === 0 ? "empty" : ""} aria-current={table === shown ? "page" : undefined} onClick={() => onShow(table.name)}>
          <span>{tableTitle(table.name)}</span> <small>{table.row_count === 0 ? "none" : grouped(table.row_count)}</small>
        </button>
      ))}
    </nav>
  );
}
