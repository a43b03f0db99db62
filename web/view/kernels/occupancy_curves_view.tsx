// Theoretical occupancy if one resource of the launch were different: a chart each for block size, registers and shared
// memory, with the launch's own value, and the same values as a table. The program computes all of them.

import { pct } from "../../layout/cell_text.ts";
import { WORK } from "../../layout/colors.ts";
import { grouped, plural } from "../../layout/time_text.ts";
import { linearTicks } from "../../layout/value_ticks.ts";
import { occupancyCurvesOf, stepsOf } from "../../model/kernel/occupancy_curves.ts";
import type { CurvePoint, OccupancyCurve } from "../../model/kernel/occupancy_curves.ts";
import type { ReportTable } from "../../model/recording/report.ts";
import { axisOf, Chart } from "../charts/chart.tsx";
import { FiguresTable } from "../parts/figures_table.tsx";
import { useFill } from "../parts/use_fill.ts";
import { SavePicture } from "../pictures/save_picture.tsx";

const HEIGHT = 130;
const SIZE = 5; // of the mark, css pixels

interface Resource {
  title: string;
  unit: string | null; // of the ticks
  axis: string;
  text: (value: number) => string;
}

const inThreads = (value: number): string => plural(value, "thread");
const inRegisters = (value: number): string => plural(value, "register");
const inBytes = (value: number): string => `${grouped(value)} B`;

const RESOURCES: Readonly<Record<string, Resource>> = {
  threads: { title: "Block size", unit: null, axis: "threads per block", text: inThreads },
  registers: { title: "Registers", unit: null, axis: "registers per thread", text: inRegisters },
  shared_bytes: { title: "Shared memory", unit: "bytes", axis: "bytes per block", text: inBytes },
};

const UNKNOWN = "Unknown: block size, registers, shared memory or the compute capability of the device is missing.";

export function OccupancyCurves({ table }: { table: ReportTable | null }) {
  const curves = occupancyCurvesOf(table).filter(({ resource }) => Object.hasOwn(RESOURCES, resource));
  return (
    <section class="curves" aria-label="Occupancy curves">
      <SavePicture title="Occupancy" />
      <h2>Occupancy curves <small>theoretical occupancy if one resource were different</small></h2>
      {curves.length === 0 ? (
        <p class="quiet">{table?.notes[0] ?? UNKNOWN}</p>
      ) : (
        <div class="columns thirds">
          {curves.filter((curve) => !isFlat(curve)).map((curve) => (
            <Curve key={curve.resource} curve={curve} resource={RESOURCES[curve.resource]!} />
          ))}
        </div>
      )}
      {curves.filter(isFlat).map(({ resource, own }) => (
        <p key={resource} class="quiet flat">
          {RESOURCES[resource]!.title}: {shareText(own)} with every value that fits; the launch has{" "}
          {RESOURCES[resource]!.text(own.value)}.
        </p>
      ))}
    </section>
  );
}

/** Nothing is to be seen where every value with which a block fits gives the same. */
const isFlat = ({ points, own }: OccupancyCurve): boolean =>
  points.every(({ occupancy_pct }) => occupancy_pct === null || occupancy_pct === own.occupancy_pct);

function Curve({ curve, resource }: { curve: OccupancyCurve; resource: Resource }) {
  const fill = useFill()(WORK);
  const { own, points } = curve;
  const high = points[points.length - 1]!.value;
  const x = (value: number, width: number) => (high > 0 ? (value / high) * width : 0);
  const y = (share: number) => HEIGHT * (1 - share / 100);
  const ticks = (width: number) => linearTicks(high, resource.unit, Math.max(2, Math.floor(width / 60)));
  const axes = (width: number) => ({
    x: axisOf(resource.axis, ticks(width), (at) => x(at, width)),
    y: axisOf("occupancy", [0, 50, 100].map((at) => ({ at, text: `${at} %` })), y),
  });
  const said = `${resource.text(own.value)}: ${shareText(own)}`;
  return (
    <section aria-label={`Occupancy by ${resource.title.toLowerCase()}`}>
      <h3>{resource.title}</h3>
      <Chart label={`Occupancy by ${resource.axis}; this kernel has ${said}`} height={HEIGHT} left={58} axes={axes}>
        {(width) => (
          <>
            <path class="curve" d={steps(points, (value) => x(value, width), y)} stroke={fill} />
            <line class="own" x1={x(own.value, width)} x2={x(own.value, width)} y1={0} y2={HEIGHT} />
            <circle class="point-mark" cx={x(own.value, width)} cy={y(own.occupancy_pct ?? 0)} r={SIZE} fill={fill}>
              <title>{said}</title>
            </circle>
          </>
        )}
      </Chart>
      <p class="own-value">
        <strong>{said}</strong>
        {own.limiter !== null && `, limited by ${own.limiter}`}
      </p>
      <p class="quiet raised">{raisedText(curve, resource)}</p>
      <details>
        <summary>Values of {resource.title.toLowerCase()}</summary>
        <FiguresTable label={`Occupancy by ${resource.axis}`} heads={["up to", "occupancy", "blocks", "limiter"]}>
          {stepsOf(curve).map((point) => (
            <tr key={point.value} class={point === own ? "lowest" : ""}>
              <th scope="row">
                {grouped(point.value)}
                {point === own && " (this kernel)"}
              </th>
              <td>{shareText(point)}</td>
              <td>{point.blocks === null ? "–" : grouped(point.blocks)}</td>
              <td>{point.limiter ?? "none"}</td>
            </tr>
          ))}
        </FiguresTable>
      </details>
    </section>
  );
}

const shareText = ({ occupancy_pct }: CurvePoint): string =>
  occupancy_pct === null ? "no block fits" : pct(occupancy_pct);

function raisedText({ own, raised_by }: OccupancyCurve, { title }: Resource): string {
  if (raised_by !== null) return `Raised by ${raised_by}`;
  return own.occupancy_pct === 100 ? "This is the maximum." : `No change of ${title.toLowerCase()} alone raises it.`;
}

/** A point holds from the one before it; the line breaks where no block fits. */
function steps(points: readonly CurvePoint[], x: (value: number) => number, y: (share: number) => number): string {
  let path = "";
  let from = 0;
  let isDown = false;
  for (const { value, occupancy_pct } of points) {
    if (occupancy_pct !== null) path += `${isDown ? "L" : "M"}${x(from)} ${y(occupancy_pct)}H${x(value)}`;
    isDown = occupancy_pct !== null;
    from = value;
  }
  return path;
}
