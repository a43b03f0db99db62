// Operators by arithmetic intensity and achieved rate, under the limits of the device: memory bandwidth times
// intensity, and the peak of each kind of arithmetic. The limits are those of the analysis `arithmetic`, recovered as
// rate over share.

import { colorOf } from "../../layout/colors.ts";
import { amount, plural, duration, grouped } from "../../layout/time_text.ts";
import { logTicks } from "../../layout/value_ticks.ts";
import { operatorsOf, roofsOf, type Operator, type Roof } from "../../model/kernel/roofline.ts";
import { tableOf } from "../../model/recording/report.ts";
import { showRow } from "../../model/table/row_navigation.ts";
import { useFill } from "../parts/use_fill.ts";
import { axisOf, Chart } from "./chart.tsx";
import { MissingChart, ChartSection, type ChartProps } from "./chart_section.tsx";

const TITLE = "Roofline";
const NOT_RECORDED = "Operator FLOPs and bytes were not recorded.";
const HEIGHT = 260;

const threeDigits = (value: number): string => String(Number(value.toPrecision(3)));
const rate = (flops: number): string => amount(flops, "FLOP/s").replace(/\.0+(?= )/, "");

export function Roofline({ viewer, report }: ChartProps) {
  const fill = useFill();
  const table = tableOf(report, "arithmetic");
  const operators = table ? operatorsOf(table) : [];
  if (table === null || operators.length === 0)
    return <MissingChart id="roofline" title={TITLE} report={report} table="arithmetic" otherwise={NOT_RECORDED} />;
  const { bandwidth, roofs } = roofsOf(table);
  const xs = operators.map(({ intensity }) => intensity);
  const tops = roofs.map((roof) => roof.flop_per_s);
  const ys = operators.map(({ flop_per_s }) => flop_per_s);
  const knees = bandwidth ? tops.map((top) => top / bandwidth) : [];
  const [left, right] = [Math.min(...xs) / 2, Math.max(...xs, ...knees) * 2];
  const [low, high] = [Math.min(...ys) / 2, Math.max(...ys, ...tops) * 2];
  const x = (value: number, width: number) => (Math.log(value / left) / Math.log(right / left)) * width;
  const y = (value: number) => HEIGHT - (Math.log(value / low) / Math.log(high / low)) * HEIGHT;
  const longest = Math.max(...operators.map(({ device_ns }) => device_ns));
  const axes = (width: number) => ({
    x: axisOf("arithmetic intensity (FLOP/byte)", logTicks(left, right, threeDigits), (at) => x(at, width)),
    y: axisOf("achieved rate", logTicks(low, high, rate), y),
  });
  const rest = table.rows.length - operators.length;
  const shown = `${plural(operators.length, "operator")}, sized by device time.`;
  const hidden = ` ${plural(rest, "operator")} without arithmetic or with unknown traffic not shown.`;
  return (
    <ChartSection
      id="roofline"
      title={TITLE}
      about={`${shown}${rest > 0 ? hidden : ""} Intensity assumes the minimum traffic of each operator.`}
      hint="Click an operator to show its longest call."
    >
      <Chart label="Roofline" height={HEIGHT} left={96} axes={axes}>
        {(width) => (
          <>
            {bandwidth !== null && (
              <Limits {...{ bandwidth, roofs, y, left, right, low, high }} x={(value) => x(value, width)} />
            )}
            {operators.map((each) => (
              <circle
                key={each.row}
                class="bar"
                cx={x(each.intensity, width)}
                cy={y(each.flop_per_s)}
                r={3 + 7 * Math.sqrt(each.device_ns / longest)}
                fill={fill(colorOf("op", each.name))}
                onClick={() => void showRow(viewer, report, table, each.row)}
              >
                <title>{titleOf(each)}</title>
              </circle>
            ))}
          </>
        )}
      </Chart>
    </ChartSection>
  );
}

function titleOf({ name, shapes, intensity, flop_per_s, device_ns, math }: Operator): string {
  const place = `${grouped(Number(intensity.toPrecision(4)))} FLOP/byte, ${rate(flop_per_s)}`;
  return `${name} ${shapes}\n${place}, ${duration(device_ns)} of device time, ${math}`;
}

interface LimitProps {
  bandwidth: number;
  roofs: Roof[];
  x: (value: number) => number;
  y: (value: number) => number;
  left: number;
  right: number;
  low: number;
  high: number;
}

/** The bandwidth slope up to the highest roof, and a line for each roof from its intersection with the slope. */
function Limits({ bandwidth, roofs, x, y, left, right, low, high }: LimitProps) {
  const top = Math.min(high, Math.max(...roofs.map((roof) => roof.flop_per_s), bandwidth * left));
  const foot = Math.max(left, low / bandwidth);
  const end = Math.min(right, top / bandwidth);
  return (
    <g class="limits">
      <line x1={x(foot)} y1={y(foot * bandwidth)} x2={x(end)} y2={y(end * bandwidth)} />
      <text x={x(foot) + 6} y={y(foot * bandwidth) - 12}>
        {amount(Number((bandwidth / 1e9).toPrecision(4)), "GB/s")}
      </text>
      {roofs.map(({ math, flop_per_s }) => (
        <g key={math}>
          <line x1={x(Math.max(left, flop_per_s / bandwidth))} x2={x(right)} y1={y(flop_per_s)} y2={y(flop_per_s)} />
          <text x={x(right) - 2} y={y(flop_per_s) - 4} text-anchor="end">{math}: {rate(flop_per_s)}</text>
        </g>
      ))}
    </g>
  );
}
