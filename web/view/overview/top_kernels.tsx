// The kernels with the most time; each links to its longest execution.

import { pct } from "../../layout/cell_text.ts";
import { colorOf } from "../../layout/colors.ts";
import { plural, duration, exact } from "../../layout/time_text.ts";
import { numberOf, textOf, type Report, type ReportTable } from "../../model/recording/report.ts";
import { showRow } from "../../model/table/row_navigation.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { SavePicture } from "../pictures/save_picture.tsx";
import { KindLegend } from "../parts/kind_legend.tsx";
import { NameText } from "../parts/name_text.tsx";
import { BarList } from "./bar_list.tsx";

const SHOWN = 6;

export function TopKernels({ viewer, report, table }: { viewer: Viewer; report: Report; table: ReportTable | null }) {
  if (table === null || table.rows.length === 0) return null;
  const bars = table.rows.slice(0, SHOWN).map((_, row) => {
    const name = textOf(table, row, "name") ?? "";
    const number = (column: string) => numberOf(table, row, column) ?? 0;
    const [total, share, count, mean] = ["total_ns", "share_pct", "count", "mean_ns"].map(number);
    const times = `${exact(total!)} in ${plural(count!, "launch")}, ${duration(mean!)} on average`;
    return {
      label: <NameText name={name} />,
      title: `${name}\n${times}; click to show the longest on the timeline`,
      amounts: [duration(total!), pct(share!)],
      share: share! / 100,
      code: colorOf("kernel", name),
      onClick: () => void showRow(viewer, report, table, row),
    };
  });
  return (
    <section aria-label="Top kernels">
      <SavePicture title="Top kernels" about="share of kernel time" />
      <h2>Top kernels <small>share of kernel time</small></h2>
      <BarList bars={bars} />
      <KindLegend viewers={[viewer]} />
      {table.row_count > SHOWN && (
        <button class="handle" data-unsaved onClick={() => viewer.openTable("kernels")}>
          Show all {table.row_count} kernels
        </button>
      )}
    </section>
  );
}
