// All known counters of the launch, with the filter of the tables page. All kernels share the text of the filter.

import type { MeasuredKernel } from "../../model/measured_kernels.ts";
import { plural } from "../../layout/time_text.ts";
import type { ReportTable } from "../../model/report.ts";
import type { Viewer } from "../../model/viewer.ts";
import { useState } from "preact/hooks";
import { Command } from "../command.tsx";
import { useViewerState } from "../use_state.ts";
import { PLAIN, type TableShape } from "../../model/table_shape.ts";
import { TableView } from "../tables/table_view.tsx";

const REPEATED = new Set(["launch", "kernel"]); // the same in every row of one launch

export function CounterTable({ viewer, kernel, table }: { viewer: Viewer; kernel: MeasuredKernel; table: ReportTable | null }) {
  const text = useViewerState(viewer, (state) => state.counterFilter);
  const [shape, setShape] = useState(PLAIN);
  const set = ({ filter, ...rest }: Partial<TableShape>) => {
    if (filter !== undefined) viewer.set({ counterFilter: filter });
    setShape((before) => ({ ...before, ...rest }));
  };
  if (table === null || table.rows.length === 0) return null;
  const kept = table.columns.flatMap((column, at) => (REPEATED.has(column.name) ? [] : [at]));
  const shown = { ...table, name: "Counters", columns: kept.map((at) => table.columns[at]!), rows: table.rows.map((row) => kept.map((at) => row[at] ?? null)) };
  const { words, file } = viewer.recording.manifest.source;
  return (
    <TableView table={shown} wanted={null} onOpen={null} level={2} recording={file} shape={{ value: { ...shape, filter: text }, set }}>
      {kernel.launches > 1 && (
        <p class="note">
          These are the counters of launch {kernel.launch}, the longest of {plural(kernel.launches, "launch")}. All launches: <Command text={`gpu-profile report ${words} metrics --limit 0`} />
        </p>
      )}
    </TableView>
  );
}
