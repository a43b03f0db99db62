// All known counters of the launch, as a table of the tables page. All kernels share its filter and order.

import type { MeasuredKernel } from "../../model/kernel/measured_kernels.ts";
import { plural } from "../../layout/time_text.ts";
import type { ReportTable } from "../../model/recording/report.ts";
import type { TableShape } from "../../model/table/table_shape.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { Command } from "../page/command.tsx";
import { useViewerState } from "../parts/use_state.ts";
import { TableView } from "../tables/table_view.tsx";

const REPEATED = new Set(["launch", "kernel"]); // the same in every row of one launch

type CounterTableProps = { viewer: Viewer; kernel: MeasuredKernel; table: ReportTable | null };

export function CounterTable({ viewer, kernel, table }: CounterTableProps) {
  const shape = useViewerState(viewer, (state) => state.kernels.counters);
  if (table === null || table.rows.length === 0) return null;
  const kept = table.columns.flatMap((column, at) => (REPEATED.has(column.name) ? [] : [at]));
  const columns = kept.map((at) => table.columns[at]!);
  const rows = table.rows.map((row) => kept.map((at) => row[at] ?? null));
  const shown = { ...table, name: "Counters", columns, rows };
  const set = (change: Partial<TableShape>) =>
    viewer.set({ kernels: { counters: { ...viewer.state.kernels.counters, ...change } } });
  const { words, file } = viewer.recording.manifest.source;
  return (
    <TableView table={shown} wanted={null} onOpen={null} level={2} recording={file} shape={{ value: shape, set }}>
      {kernel.launches > 1 && (
        <p class="note">
          These are the counters of launch {kernel.launch}, the longest of {plural(kernel.launches, "launch")}. All
          launches: <Command text={`gpu-profile report ${words} metrics --limit 0`} />
        </p>
      )}
    </TableView>
  );
}
