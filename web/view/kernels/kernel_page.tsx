// The page of one kernel with counters: what holds it back, what to change, and the counters behind it, as pictures and
// as a table. Each part is a component that draws, or says in a sentence what was not collected.

import { useEffect, useRef } from "preact/hooks";
import { pct } from "../../layout/cell_text.ts";
import { shortName } from "../../layout/short_name.ts";
import { duration, exact, grouped, plural } from "../../layout/time_text.ts";
import { countersOf } from "../../model/kernel/counters.ts";
import { reasonOf, type MeasuredKernel } from "../../model/kernel/measured_kernels.ts";
import { memoryChartOf } from "../../model/kernel/memory_chart.ts";
import { occupancyOf } from "../../model/kernel/occupancy.ts";
import { columnOf, tableOf, type Report, type ReportTable } from "../../model/recording/report.ts";
import { showName } from "../../model/table/row_navigation.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { useAsync } from "../parts/use_state.ts";
import { Advice } from "./advice.tsx";
import { CounterTable } from "./counter_table.tsx";
import { MemoryPicture } from "./memory_picture_view.tsx";
import { OccupancySection } from "./occupancy_view.tsx";
import { OccupancyCurves } from "./occupancy_curves_view.tsx";
import { KernelRooflineChart } from "./kernel_roofline_view.tsx";
import { SourceLines } from "./source_lines_view.tsx";
import { SpeedOfLight } from "./speed_of_light.tsx";
import { Stalls } from "./stalls.tsx";
import { ToolAdvice } from "./tool_advice.tsx";

interface Props {
  viewer: Viewer;
  report: Report;
  kernel: MeasuredKernel;
}

export function KernelPage({ viewer, report, kernel }: Props) {
  const { value: tables, error } = useAsync(() => viewer.recording.kernel(kernel.row), kernel.row);
  const page = useRef<HTMLElement>(null);
  useEffect(() => void page.current?.scrollTo(0, 0), [kernel.row]);
  return (
    <article class="kernel" ref={page} tabIndex={0} aria-label={`Kernel ${kernel.handle}`}>
      <Head viewer={viewer} report={report} kernel={kernel} />
      {error !== undefined && <p class="notice">Cannot read the counters: {error}</p>}
      {error === undefined && tables === undefined && <p class="notice">Reading the counters…</p>}
      {tables !== undefined && <Parts viewer={viewer} report={report} kernel={kernel} tables={tables} />}
    </article>
  );
}

function Parts({ viewer, report, kernel, tables }: Props & { tables: ReportTable[] }) {
  const table = (name: string) => tables.find((each) => each.name === name) ?? null;
  const counters = countersOf(table("metrics"));
  const memory = memoryChartOf(counters);
  return (
    <>
      <Advice table={table("advice")} />
      <div class="columns even">
        <SpeedOfLight kernel={kernel} units={memory.units} />
        <OccupancySection occupancy={occupancyOf(counters)} />
      </div>
      <OccupancyCurves table={table("occupancy_curves")} />
      <MemoryPicture chart={memory} limit={kernel.limit} />
      <div class="columns even">
        <Stalls table={table("stalls")} />
        <KernelRooflineChart report={report} table={table("roofline")} />
      </div>
      <SourceLines viewer={viewer} kernel={kernel.name} source={table("source")} stalls={table("line_stalls")} />
      <ToolAdvice tool={viewer.recording.manifest.source.tool} table={table("tool_advice")} />
      <CounterTable viewer={viewer} kernel={kernel} table={table("metrics")} />
    </>
  );
}

function Head({ viewer, report, kernel }: Props) {
  const { handle, name, launch, launches, blocks, threads, total_ns, share_pct, limit } = kernel;
  const kernels = tableOf(report, "kernels");
  const onTimeline = kernels !== null && columnOf(kernels, "name")?.includes(name);
  return (
    <header>
      <h1>
        <span class="quiet">{handle}</span> {shortName(name)}
      </h1>
      {name !== shortName(name) && <p class="full">{name}</p>}
      <p class="quiet">
        {launches > 1 ? `The longest of ${plural(launches, "launch")} with counters` : "1 launch with counters"}
        {launch !== null && `, number ${launch}`}
        {blocks !== null && threads !== null && ` · ${plural(blocks, "block")} of ${grouped(threads)} threads`}
        {onTimeline && (
          <>
            {" "}
            <button onClick={() => void showName(viewer, ["kernel"], name)}>Show on the timeline</button>
          </>
        )}
      </p>
      <section class="verdict" aria-label="What holds it back">
        <h2>{limit}</h2>
        <p class="because">{reasonOf(kernel)}</p>
        <dl>
          <div title={exact(total_ns)}>
            <dt>{launches > 1 ? `in ${plural(launches, "launch")}` : "duration"}</dt>
            <dd>{duration(total_ns)}</dd>
          </div>
          <div>
            <dt>of the time with counters</dt>
            <dd>{pct(share_pct)}</dd>
          </div>
        </dl>
      </section>
    </header>
  );
}
