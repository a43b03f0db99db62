// The tables page: every analysis of the report, as a list of tables next to the selected one.

import { tableOf, type Report, type ReportTable } from "../model/recording/report.ts";
import { canShowRow, showRow } from "../model/table/row_navigation.ts";
import type { TableShape } from "../model/table/table_shape.ts";
import type { Viewer } from "../model/page/viewer.ts";
import { MeasuredHandles } from "./tables/measured_handles.tsx";
import { ReportedPart } from "./page/reported_part.tsx";
import { TableList } from "./tables/table_list.tsx";
import { TableView } from "./tables/table_view.tsx";
import { useMemo } from "preact/hooks";
import { useAsync, useViewerState } from "./parts/use_state.ts";

export function Tables({ viewer }: { viewer: Viewer }) {
  const { value: report, error } = useAsync(() => viewer.recording.report(), viewer);
  if (error !== undefined) return <p class="notice">Cannot read the report: {error}</p>;
  if (report === undefined) return <p class="notice">Reading the report…</p>;
  return <ReportTables viewer={viewer} report={report} />;
}

function ReportTables({ viewer, report }: { viewer: Viewer; report: Report }) {
  const choice = useViewerState(viewer, (state) => state.tables.table);
  const shape = useViewerState(viewer, (state) => state.tables.shape);
  const setShape = (change: Partial<TableShape>) =>
    viewer.set({ tables: { shape: { ...viewer.state.tables.shape, ...change } } });
  const table = chosen(report, choice?.name);
  const source = useMemo(() => table && viewer.recording.rowsOf(table), [viewer, table]);
  if (table === null || source === null) return <p class="notice">No tables in this report.</p>;
  const canOpen = canShowRow(viewer.recording, table);
  return (
    <>
      <TableList
        tables={report.tables} groups={viewer.recording.manifest.table_groups} shown={table}
        onShow={(name) => viewer.openTable(name)}
      />
      <TableView
        key={table.name}
        table={table}
        source={source}
        recording={viewer.recording.manifest.source.file}
        wanted={choice?.row ?? null}
        onOpen={canOpen ? (_, cells) => void showRow(viewer, report, { ...table, rows: [[...cells]] }, 0) : null}
        shape={{ value: shape, set: setShape }}
      >
        <ReportedPart viewer={viewer} />
        {table.name === "kernels" && <MeasuredHandles viewer={viewer} report={report} table={table} />}
      </TableView>
    </>
  );
}

function chosen(report: Report, name: string | undefined): ReportTable | null {
  const wanted = name === undefined ? null : tableOf(report, name);
  if (wanted) return wanted;
  const filled = report.tables.filter((table) => table.rows.length > 0);
  return filled.find((table) => table.name === "kernels") ?? filled[0] ?? report.tables[0] ?? null;
}
