// Treemap of kernel time by name. Names too small to see share one area.

import { pct } from "../../layout/cell_text.ts";
import { DIMMED, hueOf } from "../../layout/colors.ts";
import { shortName } from "../../layout/short_name.ts";
import { plural, duration, exact } from "../../layout/time_text.ts";
import { treemap } from "../../layout/treemap.ts";
import { numberOf, tableOf, textOf, type ReportTable } from "../../model/recording/report.ts";
import { showRow } from "../../model/table/row_navigation.ts";
import type { ChartProps } from "../charts_page.tsx";
import { useFill } from "../parts/use_fill.ts";
import { useWidth } from "../parts/use_width.ts";
import { MissingChart, ChartSection } from "./chart_section.tsx";

const HEIGHT = 300; // css pixels
const MIN_SHARE = 0.004; // minimum share of kernel time for a separate area
const MIN_LABEL_WIDTH = 44; // css pixels
const MIN_TIME_WIDTH = 120;

interface Area {
  row: number | null; // null: all small kernels together
  name: string;
  total: number;
}

export function KernelShare({ viewer, report }: ChartProps) {
  const [element, width] = useWidth<HTMLDivElement>();
  const fill = useFill();
  const table = tableOf(report, "kernels");
  if (table === null || table.rows.length === 0)
    return <MissingChart id="share" title="Kernel time by name" report={report} table="kernels" otherwise="No kernels were recorded." />;
  const areas = areasOf(table);
  const all = areas.reduce((sum, { total }) => sum + total, 0);
  const boxes = treemap(areas.map(({ total }) => total), { x: 0, y: 0, width, height: HEIGHT });
  const limit = table.rows.length < table.row_count ? ` in the top ${plural(table.rows.length, "kernel")} of ${table.row_count}` : "";
  return (
    <ChartSection id="share" title="Kernel time by name" about={`${duration(all)}${limit}, summed over executions. The area of a box is its share of the time.`} hint="Click a kernel to show its longest execution on the timeline.">
      <div class="treemap" ref={element} style={{ height: `${HEIGHT}px` }}>
        {areas.map(({ row, name, total }, i) => {
          const box = boxes[i]!;
          const label = `${duration(total)}, ${pct((total / all) * 100)}`;
          return (
            <button
              key={i}
              style={{ left: `${box.x}px`, top: `${box.y}px`, width: `${box.width}px`, height: `${box.height}px`, background: fill(row === null ? DIMMED : hueOf(name)) }}
              title={`${name}\n${exact(total)}, ${pct((total / all) * 100)} of kernel time`}
              aria-label={box.width > MIN_LABEL_WIDTH && box.height > 16 ? undefined : `${name}: ${label}`}
              onClick={() => (row === null ? viewer.openTable("kernels") : void showRow(viewer, report, table, row))}
            >
              {box.width > MIN_LABEL_WIDTH && box.height > 16 && <span>{shortName(name)}</span>}
              {box.width > MIN_LABEL_WIDTH && box.height > 34 && <span>{box.width > MIN_TIME_WIDTH ? label : pct((total / all) * 100)}</span>}
            </button>
          );
        })}
      </div>
    </ChartSection>
  );
}

function areasOf(table: ReportTable): Area[] {
  const rows = table.rows.map((_, row) => ({ row, name: textOf(table, row, "name") ?? "", total: numberOf(table, row, "total_ns") ?? 0 }));
  const all = rows.reduce((sum, { total }) => sum + total, 0);
  const large: Area[] = rows.filter(({ total }) => total >= all * MIN_SHARE);
  const small = rows.filter(({ total }) => total < all * MIN_SHARE && total > 0);
  if (small.length > 0) large.push({ row: null, name: `${plural(small.length, "smaller kernel")}`, total: small.reduce((sum, { total }) => sum + total, 0) });
  return large.sort((a, b) => b.total - a.total);
}
