// A sentence of the report whose handles are links: a row to the timeline, a table to its page.

import { piecesOf, type Reference } from "../../model/table/handles.ts";
import type { Report } from "../../model/recording/report.ts";
import { rowOfKernel } from "../../model/kernel/measured_kernels.ts";
import { canShowOnTimeline, canShowRow, showRow } from "../../model/table/row_navigation.ts";
import { unbroken } from "./unbroken.tsx";
import type { Viewer } from "../../model/page/viewer.ts";

interface Props {
  viewer: Viewer;
  report: Report;
  text: string;
}

export function LinkedText({ viewer, report, text }: Props) {
  return (
    <>
      {piecesOf(report, text).map(({ text, to, isCode }, i) =>
        isCode ? (
          <code key={i}>{text}</code>
        ) : to === null ? (
          unbroken(text)
        ) : (
          <button key={i} class="handle" title={titleOf(viewer, report, to)} onClick={() => follow(viewer, report, to)}>
            {text}
          </button>
        ),
      )}
    </>
  );
}

function titleOf(viewer: Viewer, report: Report, { table, row }: Reference): string {
  if (row === null) return `Show table ${table.name}`;
  if (rowOfKernel(report, table, row) !== null) return "Show the counters of this kernel";
  const where = canShowOnTimeline(viewer.recording, table) ? "on the timeline" : "in its table";
  return `Row ${row + 1} of ${table.name}: show ${where}`;
}

function follow(viewer: Viewer, report: Report, { table, row }: Reference): void {
  if (row === null || !canShowRow(viewer.recording, table)) viewer.openTable(table.name, row);
  else void showRow(viewer, report, table, row);
}
