// Memory of each device over time, with the peak and its largest allocations. From the framework's allocator where
// recorded, otherwise the memory in use as reported by the device.

import { useEffect, useState } from "preact/hooks";
import { amount, exact, grouped, moment } from "../../layout/time_text.ts";
import { linearTicks } from "../../layout/value_ticks.ts";
import { pointsOf, type Point } from "../../model/recording/counter_points.ts";
import type { Lane } from "../../model/recording/manifest.ts";
import { numberOf, tableOf, textOf, type ReportTable } from "../../model/recording/report.ts";
import { reportedPart } from "../../model/table/row_navigation.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { axisOf, Chart, timeAxis, timeHandlers } from "./chart.tsx";
import { MissingChart, ChartSection, type ChartProps } from "./chart_section.tsx";
import { unbroken } from "../parts/unbroken.tsx";

const TITLE = "Device memory over time";
const HEIGHT = 180;
const PIXELS = 1000;
const ALLOCATOR = ["memory allocated", "memory reserved"];
const IN_USE = ["mem.used"];

interface Curve {
  lane: Lane;
  points: Point[];
}

export function Memory({ viewer, report }: ChartProps) {
  const devices = lanesByDevice(viewer);
  const [curves, setCurves] = useState<Curve[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    const part = reportedPart(viewer.recording);
    const read = async (lane: Lane) => ({ lane, points: await pointsOf(viewer.recording, lane, part, PIXELS) });
    Promise.all(devices.flatMap(([, lanes]) => lanes).map(read)).then(
      (read) => current && setCurves(read),
      (error: unknown) => current && setError(String(error)),
    );
    return () => void (current = false);
  }, [viewer]);
  const table = tableOf(report, "memory");
  const peaks = table?.rows.map((_, row) => row) ?? [];
  const otherwise = "Device memory use was not recorded.";
  if (devices.length === 0 && peaks.length === 0)
    return <MissingChart id="memory" title={TITLE} report={report} table="memory" otherwise={otherwise} />;
  return (
    <ChartSection
      id="memory" title={TITLE} about={error ?? aboutOf(devices.length, curves)}
      hint={devices.length > 0 ? "Click the chart to show that time on the timeline." : undefined}
    >
      {devices.map(([device, lanes]) => (
        <div key={device}>
          {devices.length > 1 && <h3>GPU {device}</h3>}
          {curves && <Curves viewer={viewer} curves={curves.filter(({ lane }) => lanes.includes(lane))} />}
        </div>
      ))}
      {table && peaks.map((row) => <Peak key={row} viewer={viewer} table={table} row={row} />)}
    </ChartSection>
  );
}

function aboutOf(devices: number, curves: Curve[] | null): string {
  if (devices === 0) return "The recording does not name the device of the allocations.";
  return curves === null ? "Reading values…" : "";
}

function lanesByDevice(viewer: Viewer): [number, Lane[]][] {
  const { lanes, tracks } = viewer.recording.manifest;
  for (const labels of [ALLOCATOR, IN_USE]) {
    const devices = new Map<number, Lane[]>();
    for (const lane of lanes) {
      const device = tracks[lane.track]!.device;
      if (device !== null && lane.kind === "value" && lane.events > 1 && labels.includes(lane.label ?? ""))
        devices.set(device, [...(devices.get(device) ?? []), lane]);
    }
    if (devices.size > 0) return [...devices];
  }
  return [];
}

function Curves({ viewer, curves }: { viewer: Viewer; curves: Curve[] }) {
  const [pointed, setPointed] = useState<number | null>(null); // ns
  const view = reportedPart(viewer.recording);
  const span = view.to - view.from;
  const unit = curves[0]?.lane.unit ?? null;
  const top = Math.max(0, ...curves.map(({ points }) => highest(points)));
  const y = (value: number) => HEIGHT - (top > 0 ? value / top : 0) * (HEIGHT - 8);
  const axes = (width: number) => ({
    x: timeAxis(view, width),
    y: axisOf("memory", linearTicks(top, unit, 4), y),
  });
  const x = (width: number) => (time: number) => ((Math.max(time, view.from) - view.from) / span) * width;
  const handlers = timeHandlers(viewer, setPointed);
  return (
    <>
      <p class="keys">
        {curves.map(({ lane, points }, i) => (
          <span key={lane.id}>
            <span class={`key ${i > 0 ? "dashed" : ""}`} /> {lane.label},{" "}
            {pointed === null ? `peak ${amount(highest(points), unit)}` : valueTextAt(points, pointed, unit)}
          </span>
        ))}
        {pointed !== null && <span>at {moment(pointed, span / 1000)}</span>}
      </p>
      <Chart label="Memory over time" height={HEIGHT} axes={axes}>
        {(width) => (
          <g class="bar" {...handlers(width)}>
            <rect width={width} height={HEIGHT} fill="transparent" />
            {curves.map(({ lane, points }, i) => (
              <path key={lane.id} class={i > 0 ? "curve dashed" : "curve"} d={stepPath(points, x(width), y, width)} />
            ))}
          </g>
        )}
      </Chart>
    </>
  );
}

const highest = (points: readonly Point[]): number => points.reduce((high, point) => Math.max(high, point.high), 0);

/** The exact value at a time; lowest and highest where values were merged. */
function valueTextAt(points: Point[], time: number, unit: string | null): string {
  const point = points.findLast((each) => each.time <= time);
  if (point === undefined || Number.isNaN(point.high)) return "unknown";
  const whole = (value: number) =>
    `${amount(value, unit)} (${grouped(value)}${unit === "bytes" ? "" : ` ${unit ?? ""}`})`;
  return point.low === point.high ? whole(point.high) : `${whole(point.low)} to ${whole(point.high)}`;
}

/** Each value holds until the next; merged values span from lowest to highest. */
function stepPath(points: Point[], x: (time: number) => number, y: (value: number) => number, width: number): string {
  const parts: string[] = [];
  for (const { time, low, high } of points) {
    if (Number.isNaN(high)) continue;
    const at = x(time).toFixed(1);
    const [lowest, highest] = [y(low).toFixed(1), y(high).toFixed(1)];
    parts.push(parts.length === 0 ? `M${at} ${lowest}` : `H${at}`, `V${highest}`);
    if (low < high) parts.push(`V${lowest}`);
  }
  return parts.length === 0 ? "" : `${parts.join("")}H${width.toFixed(1)}`;
}

function Peak({ viewer, table, row }: { viewer: Viewer; table: ReportTable; row: number }) {
  const [device, at, peak] = ["device", "at_ns", "peak_bytes"].map((name) => numberOf(table, row, name));
  if (at == null || peak == null) return null;
  const before = peak - (numberOf(table, row, "allocated") ?? peak);
  const show = () => viewer.goTo({ from: at - viewer.length / 100, to: at + viewer.length / 100 });
  return (
    <p class="about">
      Peak allocated memory{device == null ? "" : ` on GPU ${device}`}:{" "}
      <button class="handle" title={`${grouped(peak)} bytes at ${exact(at)}`} onClick={show}>
        {amount(peak, "bytes")} at {moment(at, 1000)}
      </button>
      {before > 0 && <>, including {amount(before, "bytes")} allocated before the recording</>}. Largest
      allocations: {unbroken(textOf(table, row, "largest") ?? "unknown")}.
    </p>
  );
}
