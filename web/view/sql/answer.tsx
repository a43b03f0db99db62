// The tables of an answer. Those whose rows have times can be marked on the timeline; a row leads to its time.

import { plural } from "../../layout/time_text.ts";
import { rowTimes } from "../../model/search/sql_answer.ts";
import type { ReportTable } from "../../model/recording/report.ts";
import { sourceName } from "../../model/recording/source_name.ts";
import { around, union, type Range } from "../../model/recording/range.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { TableView } from "../tables/table_view.tsx";

export function Answer({ viewer, tables }: { viewer: Viewer; tables: readonly ReportTable[] }) {
  if (tables.length === 0) return <p class="note">The SQL contains no statement.</p>;
  return (
    <>
      {tables.map((table) => (
        <AnswerTable key={table.name} viewer={viewer} table={table} />
      ))}
    </>
  );
}

function AnswerTable({ viewer, table }: { viewer: Viewer; table: ReportTable }) {
  const times = viewer.recording.manifest.lanes.length > 0 ? rowTimes(table) : null;
  const ranges = (times ?? []).filter((range) => range !== null).sort((a, b) => a.from - b.from);
  const open = (row: number) => {
    const range = times?.[row] ?? null;
    if (range === null) return viewer.set({ problem: "This row has no time." });
    viewer.set({ sql: { answer: { ranges } } });
    viewer.goTo(range, range.to > range.from);
  };
  return (
    <TableView
      table={table} recording={sourceName(viewer.recording.manifest)} wanted={null} level={2}
      onOpen={times === null ? null : open}
    >
      {ranges.length > 0 && (
        <p class="note">
          <button onClick={() => mark(viewer, ranges)}>Mark {plural(ranges.length, "row")} on the timeline</button>
        </p>
      )}
    </TableView>
  );
}

function mark(viewer: Viewer, ranges: readonly Range[]): void {
  viewer.set({ sql: { answer: { ranges } }, page: "timeline", view: around(ranges.reduce(union), 0.05) });
}
