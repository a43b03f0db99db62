// The tables page: every analysis of the report, as a list of tables next to the selected one.

import { tableOf, type Report, type ReportTable } from "../model/report.ts";
import { canShowRow, showRow } from "../model/row_navigation.ts";
import type { Viewer } from "../model/viewer.ts";
import { MeasuredHandles } from "./tables/measured_handles.tsx";
import { ReportedPart } from "./reported_part.tsx";
import { TableList } from "./tables/table_list.tsx";
import { TableView } from "./tables/table_view.tsx";
import { useAsync, useViewerState } from "./use_state.ts";

export function Tables({ viewer }: { viewer: Viewer }) {
  const { value: report, error } = useAsync(() => viewer.recording.report(), viewer);
  const choice = useViewerState(viewer, (state) => state.table);
  if (error !== undefined) return <p class="notice">Cannot read the report: {error}</p>;
  if (report === undefined) return <p class="notice">Reading the report…</p>;
  const table = chosen(report, choice?.name);
  if (table === null) return <p class="notice">No tables in this report.</p>;
  const canOpen = canShowRow(viewer.recording, table);
  return (
    <>
      <TableList tables={report.tables} shown={table} onShow={(name) => viewer.openTable(name)} />
      <TableView key={table.name} table={table} wanted={choice?.row ?? null} onOpen={canOpen ? (row) => void showRow(viewer, report, table, row) : null}>
        <ReportedPart viewer={viewer} />
        {table.name === "kernels" && <MeasuredHandles viewer={viewer} report={report} table={table} />}
      </TableView>
    </>
  );
}

function chosen(report: Report, name: string | undefined): ReportTable | null {
  const wanted = name === undefined ? null : tableOf(report, name);
  return wanted ?? report.tables.find((table) => table.name === "kernels" && table.rows.length > 0) ?? report.tables.find((table) => table.rows.length > 0) ?? report.tables[0] ?? null;
}
