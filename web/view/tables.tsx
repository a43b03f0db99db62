// The tables page: every analysis of the report. A list of tables beside the one that is shown.

import { grouped } from "../layout/time_text.ts";
import { tableOf, type Report, type ReportTable } from "../model/report.ts";
import type { Viewer } from "../model/viewer.ts";
import { TableView } from "./tables/table_view.tsx";
import { useLoaded, useViewer } from "./use_state.ts";

export function Tables({ viewer }: { viewer: Viewer }) {
  const { value: report, error } = useLoaded(() => viewer.recording.report(), viewer);
  const choice = useViewer(viewer, (state) => state.table);
  if (error !== undefined) return <p class="notice">The report cannot be read: {error}</p>;
  if (report === undefined) return <p class="notice">Reading the report…</p>;
  const table = chosen(report, choice?.name);
  if (table === null) return <p class="notice">The report of this recording has no tables.</p>;
  return (
    <>
      <TableList viewer={viewer} report={report} shown={table} />
      <TableView key={table.name} viewer={viewer} report={report} table={table} wanted={choice?.row ?? null} />
    </>
  );
}

function chosen(report: Report, name: string | undefined): ReportTable | null {
  const wanted = name === undefined ? null : tableOf(report, name);
  return wanted ?? report.tables.find((table) => table.name === "kernels" && table.rows.length > 0) ?? report.tables.find((table) => table.rows.length > 0) ?? report.tables[0] ?? null;
}

function TableList({ viewer, report, shown }: { viewer: Viewer; report: Report; shown: ReportTable }) {
  return (
    <nav class="list" aria-label="Tables">
      {report.tables.map((table) => (
        <button
          key={table.name}
          class={table.row_count === 0 ? "empty" : ""}
          aria-current={table === shown ? "page" : undefined}
          onClick={() => viewer.openTable(table.name)}
        >
          <span>{table.name}</span> <small>{table.row_count === 0 ? "none" : grouped(table.row_count)}</small>
        </button>
      ))}
    </nav>
  );
}
