// Treemap of kernel time by name. Names too small to see share one area.

import { pct } from "../../layout/cell_text.ts";
import { DIMMED, colorOf } from "../../layout/colors.ts";
import { plural, duration, exact } from "../../layout/time_text.ts";
import { treemap } from "../../layout/treemap.ts";
import { numberOf, tableOf, textOf, type ReportTable } from "../../model/recording/report.ts";
import { NameText } from "../parts/name_text.tsx";
import { KindLegend } from "../parts/kind_legend.tsx";
import { showRow } from "../../model/table/row_navigation.ts";
import { useFill } from "../parts/use_fill.ts";
import { px, useWidth } from "../parts/use_width.ts";
import { ChartSection, MissingChart, NO_KERNELS, type ChartProps } from "./chart_section.tsx";

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
    return <MissingChart id="share" title="Kernel time by name" report={report} {...NO_KERNELS} />;
  const areas = areasOf(table);
  const all = areas.reduce((sum, { total }) => sum + total, 0);
  const room = { x: 0, y: 0, width, height: HEIGHT };
  const boxes = treemap(areas.map(({ total }) => total), room);
  const isCut = table.rows.length < table.row_count;
  const limit = isCut ? ` in the top ${plural(table.rows.length, "kernel")} of ${table.row_count}` : "";
  return (
    <ChartSection
      id="share" title="Kernel time by name"
      about={`${duration(all)}${limit}, summed over executions. The area of a box is its share of the time.`}
      hint="Click a kernel to show its longest execution on the timeline."
    >
      <div class="treemap" ref={element} style={{ height: `${HEIGHT}px` }}>
        {areas.map(({ row, name, total }, i) => {
          const box = boxes[i]!;
          const share = pct((total / all) * 100);
          const label = `${duration(total)}, ${share}`;
          const background = fill(row === null ? DIMMED : colorOf("kernel", name));
          const isWide = box.width > MIN_LABEL_WIDTH;
          return (
            <button
              key={i}
              style={{ left: px(box.x), top: px(box.y), width: px(box.width), height: px(box.height), background }}
              title={`${name}\n${exact(total)}, ${share} of kernel time`}
              aria-label={isWide && box.height > 16 ? undefined : `${name}: ${label}`}
              onClick={() => (row === null ? viewer.openTable("kernels") : void showRow(viewer, report, table, row))}
            >
              {isWide && box.height > 16 && <NameText name={name} />}
              {isWide && box.height > 34 && <span>{box.width > MIN_TIME_WIDTH ? label : share}</span>}
            </button>
          );
        })}
      </div>
      <KindLegend viewers={[viewer]} />
    </ChartSection>
  );
}

function areasOf(table: ReportTable): Area[] {
  const rows = table.rows.map((_, row) => {
    return { row, name: textOf(table, row, "name") ?? "", total: numberOf(table, row, "total_ns") ?? 0 };
  });
  const all = rows.reduce((sum, { total }) => sum + total, 0);
  const large: Area[] = rows.filter(({ total }) => total >= all * MIN_SHARE);
  const small = rows.filter(({ total }) => total < all * MIN_SHARE && total > 0);
  const rest = small.reduce((sum, { total }) => sum + total, 0);
  if (small.length > 0) large.push({ row: null, name: plural(small.length, "smaller kernel"), total: rest });
  return large.sort((a, b) => b.total - a.total);
}
