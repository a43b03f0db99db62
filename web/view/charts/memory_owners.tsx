// Who holds the memory of each device over time, as areas that add up to what the device reports.

import { useState } from "preact/hooks";
import { FIRST_HUE, HUES } from "../../layout/colors.ts";
import { stackedAreas } from "../../layout/stacked_area.ts";
import { amount, grouped, moment } from "../../layout/time_text.ts";
import { linearTicks } from "../../layout/value_ticks.ts";
import { memoryLayers, type MemoryLayers } from "../../model/recording/memory_layers.ts";
import { tableOf } from "../../model/recording/report.ts";
import { reportedPart } from "../../model/table/row_navigation.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { useFill } from "../parts/use_fill.ts";
import { axisOf, Chart, timeAxis, timeHandlers } from "./chart.tsx";
import { ChartSection, type ChartProps } from "./chart_section.tsx";

const TITLE = "Device memory by owner";
const HEIGHT = 200;

/** Nothing if there is no sample of the memory in use: the chart of the memory over time says what was recorded. */
export function MemoryOwners({ viewer, report }: ChartProps) {
  const table = tableOf(report, "memory_curve");
  const devices = table === null ? [] : memoryLayers(table).filter(({ layers }) => layers.length > 0);
  if (table === null || devices.length === 0) return null;
  const drawn = ` The first ${grouped(table.rows.length)} of ${grouped(table.row_count)} changes are drawn.`;
  const cut = table.rows.length < table.row_count ? drawn : "";
  return (
    <ChartSection
      id="memory-owners" title={TITLE} about={`The areas add up to the memory in use that the device reports.${cut}`}
      hint="Click the chart to show that time on the timeline."
    >
      {devices.map((device) => (
        <div key={device.device}>
          {devices.length > 1 && <h3>GPU {device.device}</h3>}
          <Owners viewer={viewer} memory={device} isCut={cut !== ""} />
        </div>
      ))}
      <p class="about">
        <button class="handle" onClick={() => viewer.openTable("memory_curve")}>All values</button>
      </p>
    </ChartSection>
  );
}

function Owners({ viewer, memory, isCut }: { viewer: Viewer; memory: MemoryLayers; isCut: boolean }) {
  const fill = useFill();
  const [pointed, setPointed] = useState<number | null>(null); // ns
  const { times, used, layers } = memory;
  const view = reportedPart(viewer.recording);
  const span = view.to - view.from;
  const top = Math.max(...used.filter((_, i) => times[i]! < view.to));
  const y = (value: number) => HEIGHT - (value / top) * (HEIGHT - 8);
  const color = (i: number) => fill(FIRST_HUE + ((i * 3) % HUES));
  const peak = used.findLastIndex((each, i) => each === top && times[i]! < view.to);
  const shown = pointed === null ? peak : times.findLastIndex((time) => time <= pointed);
  const peaks = layers.map(({ name, bytes }) => `${name} up to ${amount(Math.max(...bytes), "bytes")}`);
  const handlers = timeHandlers(viewer, setPointed);
  return (
    <>
      <p class="keys">
        <span>
          {pointed === null ? "peak" : moment(pointed, span / 1000)}:{" "}
          {shown < 0 ? "unknown" : amount(used[shown]!, "bytes")}
        </span>
        {layers
          .map(({ name, bytes }, i) => (
            <span key={name} title={shown < 0 ? undefined : `${grouped(bytes[shown]!)} bytes`}>
              <span class="key-box" style={{ background: color(i) }} /> {name}
              {shown < 0 ? "" : `, ${amount(bytes[shown]!, "bytes")}`}
            </span>
          ))
          .reverse()}
      </p>
      <Chart
        label={`${TITLE}: ${peaks.join(", ")}`}
        height={HEIGHT}
        axes={(width) => ({ x: timeAxis(view, width), y: axisOf("memory", linearTicks(top, "bytes", 4), y) })}
      >
        {(width) => {
          const x = (time: number) => ((Math.min(Math.max(time, view.from), view.to) - view.from) / span) * width;
          const end = isCut ? x(times[times.length - 1]!) : width;
          return (
            <g class="bar" {...handlers(width)}>
              <rect width={width} height={HEIGHT} fill="transparent" />
              {stackedAreas(times.map(x), layers.map(({ bytes }) => bytes), end, y).map((path, i) => (
                <path key={layers[i]!.name} class="owner" d={path} fill={color(i)} />
              ))}
            </g>
          );
        }}
      </Chart>
    </>
  );
}
