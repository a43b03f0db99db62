// Two recordings of one program: the verdict and its attribution, both timelines, and every table of `compare`. A row
// or bar highlights the matching events on both timelines.

import { useRef, useState } from "preact/hooks";
import type { Comparison } from "../model/comparison.ts";
import { tableOf, type ReportTable } from "../model/report.ts";
import { Attribution } from "./comparison/attribution.tsx";
import { ComparisonVerdict } from "./comparison/verdict.tsx";
import { Timelines } from "./comparison/timelines.tsx";
import { TableList } from "./tables/table_list.tsx";
import { TableView } from "./tables/table_view.tsx";
import { DataQuality } from "./data_quality.tsx";

export function ComparisonPage({ comparison }: { comparison: Comparison }) {
  const { report } = comparison;
  const timelines = useRef<HTMLDivElement>(null);
  const [status, setStatus] = useState("");
  const show = (table: ReportTable, row: number) => {
    timelines.current?.scrollIntoView({ block: "nearest" });
    void comparison.highlight(table, row).then((found) => setStatus(found ? "" : "Neither timeline has an event for this row."));
  };
  return (
    <article class="answer comparison">
      <DataQuality lines={report.trust} />
      <div class="columns">
        <ComparisonVerdict report={report} />
        <Attribution table={tableOf(report, "attribution")} onOpen={show} />
      </div>
      <div ref={timelines}>
        <Timelines comparison={comparison} status={status} onClear={() => setStatus("")} />
      </div>
      <Differences tables={report.tables} recording={comparison.next.recording.manifest.source.file} onOpen={show} />
    </article>
  );
}

function Differences({ tables, recording, onOpen }: { tables: readonly ReportTable[]; recording: string; onOpen: (table: ReportTable, row: number) => void }) {
  const [name, setName] = useState("kernels");
  const table = tables.find((each) => each.name === name) ?? tables[0];
  if (table === undefined) return null;
  const canOpen = table.columns.some((column) => column.name === "name");
  return (
    <section class="differences" aria-label="Differences">
      <h2>Differences</h2>
      <div class="page tables">
        <TableList tables={tables} shown={table} onShow={setName} />
        <TableView key={table.name} table={table} recording={recording} wanted={null} onOpen={canOpen ? (row) => onOpen(table, row) : null} />
      </div>
    </section>
  );
}
