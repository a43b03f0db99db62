// Idle time of many devices as one matrix: a row per device, a column per cause, the largest first. A cell leads to its
// longest gap.

import { pct } from "../../layout/cell_text.ts";
import { causeOf, type Cause } from "../../layout/colors.ts";
import { duration, exact, plural } from "../../layout/time_text.ts";
import { numberOf, textOf, type Report, type ReportTable } from "../../model/recording/report.ts";
import { showRow } from "../../model/table/row_navigation.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { Swatch } from "../parts/swatch.tsx";
import { useFill } from "../parts/use_fill.ts";

type IdleMatrixProps = { viewer: Viewer; report: Report; table: ReportTable };

export function IdleMatrix({ viewer, report, table }: IdleMatrixProps) {
  const { devices, causes, cells } = matrixOf(table);
  return (
    <>
      <div class="scroll">
        <table class="idle-matrix">
          <thead>
            <tr>
              <th scope="col"><span class="spoken">GPU</span></th>
              {causes.map(({ cause }) => (
                <th key={cause.name} scope="col" title={cause.name}>
                  <Swatch code={cause.code} letter={cause.letter} />
                  <span class="spoken">{cause.name}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {devices.map((device, i) => (
              <tr key={device}>
                <th scope="row">GPU {device}</th>
                {causes.map(({ cause }, j) => (
                  <td key={cause.name}>
                    <Cell viewer={viewer} report={report} table={table} row={cells[i]![j] ?? null} cause={cause} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ul class="kinds" aria-label="Causes of idle time">
        {causes.map(({ cause, total }) => (
          <li key={cause.name}>
            <Swatch code={cause.code} letter={cause.letter} /> {cause.name} {duration(total)}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Rows of the analysis `idle`, by device and cause. */
function matrixOf(table: ReportTable) {
  const devices = [...new Set(table.rows.map((_, row) => numberOf(table, row, "device")))];
  const totals = new Map<string, number>();
  const rows = new Map<string, number>();
  table.rows.forEach((_, row) => {
    const name = textOf(table, row, "cause") ?? "unknown";
    totals.set(name, (totals.get(name) ?? 0) + (numberOf(table, row, "total_ns") ?? 0));
    rows.set(`${numberOf(table, row, "device")} ${name}`, row);
  });
  const order = [...totals].sort(([, a], [, b]) => b - a).filter(([, total]) => total > 0);
  const causes = order.map(([name, total]) => ({ cause: causeOf(name), total }));
  const cells = devices.map((device) => causes.map(({ cause }) => rows.get(`${device} ${cause.name}`)));
  return { devices, causes, cells };
}

type CellProps = IdleMatrixProps & { row: number | null; cause: Cause };

function Cell({ viewer, report, table, row, cause }: CellProps) {
  const fill = useFill()(cause.code);
  const total = row === null ? null : numberOf(table, row, "total_ns");
  if (row === null || total === null || total === 0) return null;
  const [share, count] = ["share_pct", "count"].map((name) => numberOf(table, row, name) ?? 0);
  const gaps = `${pct(share!)} of its idle time, in ${plural(count!, "gap")}`;
  const name = `GPU ${numberOf(table, row, "device")}, ${cause.name}`;
  const mixed = `color-mix(in srgb, ${fill} ${Math.round(15 + 0.85 * share!)}%, transparent)`;
  return (
    <button
      style={{ background: mixed }} title={`${name}: ${exact(total)}, ${gaps}; click to show the longest`}
      aria-label={`${name}: ${duration(total)}, ${gaps}`} onClick={() => void showRow(viewer, report, table, row)}
    >
      {pct(share!)}
    </button>
  );
}
