// Idle time by cause, for each device; each cause links to its longest gap.

import { pct } from "../../layout/cell_text.ts";
import { causeOf } from "../../layout/colors.ts";
import { plural, duration, exact } from "../../layout/time_text.ts";
import { numberOf, textOf, type Report, type ReportTable } from "../../model/recording/report.ts";
import { showRow } from "../../model/table/row_navigation.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { SavePicture } from "../pictures/save_picture.tsx";
import { Swatch } from "../parts/swatch.tsx";
import { BarList } from "./bar_list.tsx";
import { IdleMatrix } from "./idle_matrix.tsx";

/** More devices than this are drawn as one picture instead of one after the other. */
export const FEW = 4;

export function IdleCauses({ viewer, report, table }: { viewer: Viewer; report: Report; table: ReportTable | null }) {
  if (table === null || table.rows.length === 0) return null;
  const devices = [...new Set(table.rows.map((_, row) => numberOf(table, row, "device")))];
  return (
    <section aria-label="Idle time by cause">
      <SavePicture title="Idle time by cause" about="share of idle time" />
      <h2>Idle time by cause <small>share of idle time</small></h2>
      {devices.length > FEW && <IdleMatrix viewer={viewer} report={report} table={table} />}
      {devices.length <= FEW && devices.map((device) => (
        <div key={device}>
          {devices.length > 1 && <h3>GPU {device}</h3>}
          <BarList bars={barsOf(viewer, report, table, device)} />
        </div>
      ))}
    </section>
  );
}

function barsOf(viewer: Viewer, report: Report, table: ReportTable, device: number | null) {
  const rows = table.rows.map((_, row) => row).filter((row) => numberOf(table, row, "device") === device);
  return rows.map((row) => {
    const cause = causeOf(textOf(table, row, "cause") ?? "unknown");
    const total = numberOf(table, row, "total_ns") ?? 0;
    const share = numberOf(table, row, "share_pct") ?? 0;
    const count = numberOf(table, row, "count");
    const gaps = count === null ? "" : ` in ${plural(count, "gap")}`;
    return {
      label: (
        <>
          <Swatch code={cause.code} letter={cause.letter} /> {cause.name}
        </>
      ),
      title: `${exact(total)}${gaps}; click to show the longest on the timeline`,
      amounts: [duration(total), pct(share)],
      share: share / 100,
      code: cause.code,
      onClick: () => void showRow(viewer, report, table, row),
    };
  });
}
