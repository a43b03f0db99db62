// Treemap of kernel time by name. Names too small to see share one area.

import { useMemo } from "preact/hooks";
import { pct } from "../../layout/cell_text.ts";
import { DIMMED, colorOf } from "../../layout/colors.ts";
import { Fitter } from "../../layout/fit.ts";
import { nameLines } from "../../layout/name_lines.ts";
import { plural, duration, exact } from "../../layout/time_text.ts";
import { treemap } from "../../layout/treemap.ts";
import { numberOf, tableOf, textOf, type ReportTable } from "../../model/recording/report.ts";
import { KindLegend } from "../parts/kind_legend.tsx";
import { showRow } from "../../model/table/row_navigation.ts";
import { useFill } from "../parts/use_fill.ts";
import { px, useWidth } from "../parts/use_width.ts";
import { ChartSection, MissingChart, NO_KERNELS, type ChartProps } from "./chart_section.tsx";

const HEIGHT = 300; // css pixels
const MIN_SHARE = 0.004; // minimum share of kernel time for a separate area
const MIN_LABEL_WIDTH = 44; // css pixels
const LINE = 14.4; // css pixels, as in pages.css
const MARGIN = 10; // css pixels: padding and border, left and right; above and below half of it
const MAX_LINES = 6; // of a name

interface Area {
  row: number | null; // null: all small kernels together
  name: string;
  total: number;
}

export function KernelShare({ viewer, report }: ChartProps) {
  const [element, width] = useWidth<HTMLDivElement>();
  const fill = useFill();
  const fitter = useMemo(fitterOfLabels, []);
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
          const figure = [label, share].find((each) => fitter.width(each) <= box.width - MARGIN);
          const background = fill(row === null ? DIMMED : colorOf("kernel", name));
          const isWide = box.width > MIN_LABEL_WIDTH;
          const room = Math.floor((box.height - MARGIN / 2) / LINE); // lines
          const most = Math.min(room - 1 || room, MAX_LINES);
          const lines = isWide ? nameLines(name, box.width - MARGIN, most, fitter) : [];
          return (
            <button
              key={i}
              style={{ left: px(box.x), top: px(box.y), width: px(box.width), height: px(box.height), background }}
              title={`${name}\n${exact(total)}, ${share} of kernel time`}
              aria-label={room > 0 && lines.length > 0 ? undefined : `${name}: ${label}`}
              onClick={() => (row === null ? viewer.openTable("kernels") : void showRow(viewer, report, table, row))}
            >
              {room > 0 && lines.map((line, at) => <span key={at}>{line}</span>)}
              {room > 1 && isWide && figure && <span>{figure}</span>}
            </button>
          );
        })}
      </div>
      <KindLegend viewers={[viewer]} />
    </ChartSection>
  );
}

function fitterOfLabels(): Fitter {
  const ruler = document.createElement("canvas").getContext("2d")!;
  ruler.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return new Fitter((text) => ruler.measureText(text).width);
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
