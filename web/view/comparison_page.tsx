// Two recordings of one program: the verdict and its attribution, both timelines, and every table of `compare`. A row
// or bar highlights the matching events on both timelines.

import { useMemo, useRef, useState } from "preact/hooks";
import type { Comparison } from "../model/page/comparison.ts";
import { sourceName } from "../model/recording/source_name.ts";
import { tableOf, type ReportTable } from "../model/recording/report.ts";
import { PLAIN, type TableShape } from "../model/table/table_shape.ts";
import type { Viewer } from "../model/page/viewer.ts";
import { Attribution } from "./comparison/attribution.tsx";
import { ComparisonVerdict, Metrics } from "./comparison/verdict.tsx";
import { differenceCaption } from "./pictures/caption.ts";
import { Timelines } from "./comparison/timelines.tsx";
import { DifferenceTables, type Place } from "./steps/difference_tables.tsx";
import { TableList } from "./tables/table_list.tsx";
import { TableView } from "./tables/table_view.tsx";
import { DataQuality } from "./page/data_quality.tsx";
import { useViewerState } from "./parts/use_state.ts";

export function ComparisonPage({ comparison }: { comparison: Comparison }) {
  const { report } = comparison;
  const timelines = useRef<HTMLDivElement>(null);
  const [status, setStatus] = useState("");
  const show = (table: ReportTable, row: number) => {
    timelines.current?.scrollIntoView({ block: "nearest" });
    const none = "Neither timeline has an event for this row.";
    void comparison.highlight(table, row).then((found) => setStatus(found ? "" : none));
  };
  const about = "NEW − BASE, time per step and device";
  const caption = differenceCaption(comparison, "Attribution of the difference", about);
  return (
    <article class="answer comparison">
      <DataQuality lines={report.trust} />
      <ComparisonVerdict report={report} />
      <div ref={timelines}>
        <Timelines comparison={comparison} status={status} onClear={() => setStatus("")} />
      </div>
      <div class="columns">
        <Attribution table={tableOf(report, "attribution")} caption={caption} onOpen={show} />
        <section aria-label="Metrics of both recordings">
          <h2>Metrics</h2>
          <Metrics report={report} />
        </section>
      </div>
      <ShownSteps comparison={comparison} />
      <Differences viewer={comparison.next} tables={report.tables} onOpen={show} />
    </article>
  );
}

/** What differs between the two steps that the timelines show, unlike the tables below, which are means over all. */
function ShownSteps({ comparison }: { comparison: Comparison }) {
  const { base, next } = comparison;
  useViewerState(base, (state) => state.comparison.ownStep);
  useViewerState(next, ({ comparison: { ownStep, aligned } }) => `${ownStep} ${aligned}`);
  const { pair } = comparison;
  const key = `${pair.base.from} ${pair.base.to} ${pair.next.from} ${pair.next.to}`;
  const before = useMemo((): Place => ({ label: "BASE", viewer: base, range: pair.base }), [comparison, key]);
  const after = useMemo((): Place => ({ label: "NEW", viewer: next, range: pair.next }), [comparison, key]);
  if (pair.name === "") return null;
  return (
    <section aria-label="Differences of the shown steps">
      <h2>Differences of the shown steps <small>NEW − BASE; events are clipped to their step</small></h2>
      <DifferenceTables before={before} after={after} />
    </section>
  );
}

type OnRow = (table: ReportTable, row: number) => void;
type DifferencesProps = { viewer: Viewer; tables: readonly ReportTable[]; onOpen: OnRow };

function Differences({ viewer, tables, onOpen }: DifferencesProps) {
  const name = useViewerState(viewer, (state) => state.comparison.differences ?? "kernels");
  const shape = useViewerState(viewer, (state) => state.comparison.shape);
  const table = tables.find((each) => each.name === name) ?? tables[0];
  if (table === undefined) return null;
  const canOpen = table.columns.some((column) => column.name === "name");
  const showTable = (differences: string) => viewer.set({ comparison: { differences, shape: PLAIN } });
  const setShape = (change: Partial<TableShape>) =>
    viewer.set({ comparison: { shape: { ...viewer.state.comparison.shape, ...change } } });
  return (
    <section class="differences" aria-label="Differences">
      <h2>Differences</h2>
      <div class="page tables">
        <TableList tables={tables} shown={table} onShow={showTable} />
        <TableView
          key={table.name}
          table={table}
          recording={sourceName(viewer.recording.manifest)}
          wanted={null}
          onOpen={canOpen ? (row) => onOpen(table, row) : null}
          shape={{ value: shape, set: setShape }}
        />
      </div>
    </section>
  );
}
