// Steps in order: the duration of each and the share in which the devices were busy. Slow steps have a mark above the
// bar and the reason in the tooltip.

import { pct } from "../../layout/cell_text.ts";
import { WORK } from "../../layout/colors.ts";
import { plural, duration, exact } from "../../layout/time_text.ts";
import { linearTicks } from "../../layout/value_ticks.ts";
import { cellOf, numberOf, tableOf, textOf } from "../../model/recording/report.ts";
import { showRow } from "../../model/table/row_navigation.ts";
import { useFill } from "../parts/use_fill.ts";
import { axisOf, Chart } from "./chart.tsx";
import { MissingChart, ChartSection, type ChartProps } from "./chart_section.tsx";

const TITLE = "Step times";
const HEIGHT = 180;
const HEAD = 18; // css pixels above the longest bar, for marks
const MAX_BAR_WIDTH = 90;
const MIN_HEIGHT_FOR_LABEL = 20; // minimum bar width in css pixels for a duration inside

export function Steps({ viewer, report }: ChartProps) {
  const fill = useFill()(WORK);
  const table = tableOf(report, "steps");
  if (table === null || table.rows.length === 0)
    return <MissingChart id="steps" title={TITLE} report={report} table="steps" otherwise="No steps were found." />;
  const steps = table.rows.map((_, row) => ({
    row,
    name: textOf(table, row, "step") ?? String(row),
    dur: numberOf(table, row, "dur_ns") ?? 0,
    busy: numberOf(table, row, "busy_pct"),
    slow: cellOf(table, row, "slow") === true,
    why: textOf(table, row, "why"),
  }));
  const longest = Math.max(1, ...steps.map(({ dur }) => dur));
  const slow = steps.filter((step) => step.slow).length;
  const y = (ns: number) => HEIGHT - (ns / longest) * (HEIGHT - HEAD);
  const each = (width: number) => Math.min(MAX_BAR_WIDTH, width / steps.length);
  const names = steps.map(({ name }, at) => ({ at, text: name.replace(/^ProfilerStep#/, "#") }));
  const axes = (width: number) => ({
    x: axisOf("step", names, (at) => (at + 0.5) * each(width)),
    y: axisOf("duration", linearTicks(longest, "ns", 4), y),
  });
  const limit = table.rows.length < table.row_count ? ` (the first ${table.rows.length} of ${table.row_count})` : "";
  const marked = slow === 0 ? "none slow" : `${slow} slow (marked with ▼)`;
  const counts = `${plural(steps.length, "step")}${limit}, ${marked}`;
  return (
    <ChartSection
      id="steps"
      title={TITLE}
      about={`${counts}. The filled part of a bar is the device-busy share of the step. ${table.notes.join(" ")}`}
      hint="Click a step to measure it."
    >
      <Chart label={`${steps.length} steps`} height={HEIGHT} axes={axes}>
        {(width) =>
          steps.map(({ row, name, dur, busy, slow, why }, i) => {
            const [x, wide] = [i * each(width), Math.max(1, each(width) - Math.min(4, each(width) / 5))];
            const full = ((busy ?? 0) / 100) * (HEIGHT - y(dur));
            const busyText = busy === null ? "" : `, devices busy ${pct(busy)}`;
            const slowText = slow ? `\nslow: ${why ?? "longer than most steps"}` : "";
            const isInside = HEIGHT - y(dur) > MIN_HEIGHT_FOR_LABEL;
            const above = y(dur) - (slow ? 16 : 4);
            return (
              <g key={row} class="bar" onClick={() => void showRow(viewer, report, table, row)}>
                <title>{`${name}: ${exact(dur)}${busyText}${slowText}`}</title>
                <rect x={x} y={y(dur)} width={wide} height={HEIGHT - y(dur)} class="outline" />
                <rect x={x} y={HEIGHT - full} width={wide} height={full} fill={fill} />
                {slow && (
                  <text class="mark" x={x + wide / 2} y={y(dur) - 4} text-anchor="middle">▼</text>
                )}
                {wide > 56 && (
                  <text class="value" x={x + wide / 2} y={isInside ? y(dur) + 14 : above} text-anchor="middle">
                    {duration(dur)}
                  </text>
                )}
              </g>
            );
          })
        }
      </Chart>
    </ChartSection>
  );
}
