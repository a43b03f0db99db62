// The roofline of one launch: a point per number format and level of memory, under the slopes of the levels and the
// roofs of the formats. Operators of the recording whose arithmetic is known from their shapes are on the same plot.

import { levelCode, levelDash } from "../../layout/level_style.ts";
import { pct } from "../../layout/cell_text.ts";
import { amount, grouped, plural } from "../../layout/time_text.ts";
import { logTicks } from "../../layout/value_ticks.ts";
import { kernelRooflineOf, LEVELS } from "../../model/kernel/kernel_roofline.ts";
import type { KernelRoofline, RooflinePoint } from "../../model/kernel/kernel_roofline.ts";
import { tableOf, type Report, type ReportTable } from "../../model/recording/report.ts";
import { operatorsOf, type Operator } from "../../model/kernel/roofline.ts";
import { axisOf, Chart } from "../charts/chart.tsx";
import { FiguresTable } from "../parts/figures_table.tsx";
import { useFill } from "../parts/use_fill.ts";
import { SavePicture } from "../pictures/save_picture.tsx";

const HEIGHT = 300;
const SIZE = 5; // of a point, css pixels

const rate = (flops: number): string => amount(flops, "FLOP/s").replace(/\.0+(?= )/, "");
const intensityText = (value: number): string => grouped(Number(value.toPrecision(3)));
const tickText = (value: number): string =>
  value >= 1e5 || value < 1e-3 ? value.toExponential(0) : intensityText(value);

export function KernelRooflineChart({ report, table }: { report: Report; table: ReportTable | null }) {
  const roofline = kernelRooflineOf(table);
  if (roofline.points.length === 0)
    return (
      <section aria-label="Roofline">
        <h2>Roofline</h2>
        <p class="quiet">{table?.notes[0] ?? "No floating-point arithmetic was counted for this kernel."}</p>
      </section>
    );
  const arithmetic = tableOf(report, "arithmetic");
  const modelled = arithmetic === null ? [] : operatorsOf(arithmetic);
  return (
    <section aria-label="Roofline">
      <SavePicture title="Roofline" />
      <h2>Roofline <small>arithmetic per byte, by number format and level of memory</small></h2>
      <Keys roofline={roofline} modelled={modelled.length} />
      <Plot roofline={roofline} modelled={modelled} />
      <Figures points={roofline.points} />
    </section>
  );
}

function Keys({ roofline, modelled }: { roofline: KernelRoofline; modelled: number }) {
  const fill = useFill();
  return (
    <p class="keys">
      {LEVELS.filter((level) => roofline.points.some((point) => point.level === level)).map((level) => {
        const bandwidth = roofline.slopes.get(level);
        return (
          <span key={level}>
            <svg width={34} height={12} aria-hidden="true">
              <line class="roof" x1={0} x2={34} y1={6} y2={6} stroke-dasharray={levelDash(level)} />
              <Mark level={level} x={17} y={6} fill={fill(levelCode(level))} />
            </svg>{" "}
            {level}
            {bandwidth !== undefined && ` ${amount(bandwidth, "byte/s")}`}
          </span>
        );
      })}
      {modelled > 0 && (
        <span>
          <svg width={14} height={12} aria-hidden="true">
            <circle class="modelled" cx={7} cy={6} r={4} />
          </svg>{" "}
          {plural(modelled, "operator")} of the recording, modelled from shapes
        </span>
      )}
    </p>
  );
}

type PlotProps = { roofline: KernelRoofline; modelled: readonly Operator[] };

function Plot({ roofline: { points, roofs, slopes }, modelled }: PlotProps) {
  const fill = useFill();
  const peaks = [...roofs.values()];
  const xs = [...points, ...modelled].map(({ intensity }) => intensity);
  const ys = [...points, ...modelled].map(({ flop_per_s }) => flop_per_s);
  const ridges = peaks.flatMap((peak) => [...slopes.values()].map((slope) => peak / slope));
  const [left, right] = [Math.min(...xs, ...ridges) / 3, Math.max(...xs, ...ridges) * 3];
  const [low, high] = [Math.min(...ys) / 3, Math.max(...ys, ...peaks) * 2];
  const x = (value: number, width: number) => (Math.log(value / left) / Math.log(right / left)) * width;
  const y = (value: number) => HEIGHT - (Math.log(value / low) / Math.log(high / low)) * HEIGHT;
  const axes = (width: number) => ({
    x: axisOf("arithmetic intensity (FLOP/byte)", logTicks(left, right, tickText), (at) => x(at, width)),
    y: axisOf("achieved rate", logTicks(low, high, rate), y),
  });
  const top = peaks.length > 0 ? Math.max(...peaks) : high;
  const steepest = (peak: number) => Math.max(peak / right, ...slopes.values());
  const markOf = ({ level, intensity, flop_per_s }: RooflinePoint, width: number) =>
    ({ level, x: x(intensity, width), y: y(flop_per_s) });
  return (
    <Chart label="Roofline" height={HEIGHT} left={88} axes={axes}>
      {(width) => (
        <>
          {[...slopes].map(([level, slope]) => {
            const [from, to] = [Math.max(left, low / slope), Math.min(right, top / slope)];
            const ends = { x1: x(from, width), y1: y(from * slope), x2: x(to, width), y2: y(to * slope) };
            return from < to && <line key={level} class="roof" {...ends} stroke-dasharray={levelDash(level)} />;
          })}
          {merged(roofs).map(([names, peak]) => (
            <g key={names} class="limits">
              <line x1={x(Math.max(left, peak / steepest(peak)), width)} x2={width} y1={y(peak)} y2={y(peak)} />
              <text x={width - 2} y={y(peak) - 4} text-anchor="end">{names}: {rate(peak)}</text>
            </g>
          ))}
          {modelled.map((each) => (
            <circle key={each.row} class="modelled" cx={x(each.intensity, width)} cy={y(each.flop_per_s)} r={4}>
              <title>{`${each.name} ${each.shapes}\n${placeText(each)}; modelled`}</title>
            </circle>
          ))}
          {points.map((point) => (
            <g key={`${point.precision} ${point.level}`} class="point">
              <title>{titleOf(point)}</title>
              <Mark {...markOf(point, width)} fill={fill(levelCode(point.level))} />
            </g>
          ))}
        </>
      )}
    </Chart>
  );
}

/** A circle, square or triangle. */
function Mark({ level, x, y, fill }: { level: string; x: number; y: number; fill: string }) {
  const look = { class: "point-mark", fill };
  if (level === "L2") return <rect {...look} x={x - SIZE} y={y - SIZE} width={2 * SIZE} height={2 * SIZE} />;
  if (level === "L1") return <path {...look} d={`M${x} ${y - SIZE}l${SIZE} ${2 * SIZE}h${-2 * SIZE}z`} />;
  return <circle {...look} cx={x} cy={y} r={SIZE} />;
}

/** Number formats with the same peak share a label. Peaks within 0.1 % count as equal, because clocks vary. */
function merged(roofs: ReadonlyMap<string, number>): [names: string, peak: number][] {
  const out: [string, number][] = [];
  for (const [name, peak] of [...roofs].sort((a, b) => b[1] - a[1])) {
    const last = out[out.length - 1];
    if (last !== undefined && last[1] / peak < 1.001) last[0] += `, ${name}`;
    else out.push([name, peak]);
  }
  return out;
}

const placeText = ({ intensity, flop_per_s }: { intensity: number; flop_per_s: number }): string =>
  `${intensityText(intensity)} FLOP/byte, ${rate(flop_per_s)}`;

function titleOf(point: RooflinePoint): string {
  const text = `${point.precision}, ${point.level}\n${placeText(point)}`;
  return point.of_roof_pct === null ? text : `${text}, ${pct(point.of_roof_pct)} of the roof`;
}

const HEADS = ["format", "level", "FLOP/byte", "achieved", "roof", "of roof"];

function Figures({ points }: { points: readonly RooflinePoint[] }) {
  return (
    <FiguresTable label="Points of the roofline" heads={HEADS}>
      {points.map(({ precision, level, intensity, flop_per_s, roof, of_roof_pct }) => (
        <tr key={`${precision} ${level}`}>
          <th scope="row">{precision}</th>
          <td>{level}</td>
          <td>{intensityText(intensity)}</td>
          <td>{rate(flop_per_s)}</td>
          <td>{roof === null ? "–" : rate(roof)}</td>
          <td>{of_roof_pct === null ? "–" : pct(of_roof_pct)}</td>
        </tr>
      ))}
    </FiguresTable>
  );
}
