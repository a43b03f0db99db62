// Links from the table of kernels to the pages of those that have counters, found by name.

import { measuredKernels } from "../../model/kernel/measured_kernels.ts";
import { columnOf, type Report, type ReportTable } from "../../model/recording/report.ts";
import type { Viewer } from "../../model/page/viewer.ts";

const SHOWN = 12; // the others are on the kernels page

export function MeasuredHandles({ viewer, report, table }: { viewer: Viewer; report: Report; table: ReportTable }) {
  const measured = measuredKernels(report);
  if (measured.length === 0) return null;
  const names = columnOf(table, "name") ?? [];
  const rows = names.flatMap((name, row) => {
    const kernel = measured.find((each) => each.name === name);
    return kernel === undefined ? [] : [{ row, kernel }];
  });
  return (
    <p class="note">
      Counters of{" "}
      {rows.slice(0, SHOWN).map(({ row, kernel }) => (
        <span key={row}>
          <button class="handle" title={kernel.name} onClick={() => viewer.openKernel(kernel.launch)}>
            {`${table.handle_prefix}-${row + 1}`}
          </button>
          {", "}
        </span>
      ))}
      <button class="handle" onClick={() => viewer.openKernel(null)}>
        {rows.length > 0 ? "all kernels with counters" : "kernels that are not in this table"}
      </button>
    </p>
  );
}
