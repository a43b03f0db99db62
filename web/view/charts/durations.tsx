// Histogram of the durations of one kernel's executions, over bins of equal ratio, exact, from the events themselves.

import { useEffect, useState } from "preact/hooks";
import { colorOf } from "../../layout/colors.ts";
import { logBins, type Bin } from "../../layout/log_bins.ts";
import { shortName } from "../../layout/short_name.ts";
import { amount, plural, duration, exact, grouped, moment } from "../../layout/time_text.ts";
import { linearTicks, logTicks } from "../../layout/value_ticks.ts";
import { executionAt, executionsOf, percentileOf, type Executions } from "../../model/range/executions.ts";
import { columnOf, tableOf } from "../../model/recording/report.ts";
import { reportedPart } from "../../model/table/row_navigation.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { KindLegend } from "../parts/kind_legend.tsx";
import { useFill } from "../parts/use_fill.ts";
import { useViewerState } from "../parts/use_state.ts";
import { axisOf, Chart } from "./chart.tsx";
import { ChartSection, MissingChart, NO_KERNELS, type ChartProps } from "./chart_section.tsx";

const TITLE = "Kernel durations";
const HEIGHT = 180;
const BINS = 48;
const MAX_OPTIONS = 200; // names in the list, those with the most time

export function Durations({ viewer, report }: ChartProps) {
  const kernels = tableOf(report, "kernels");
  const names =
    (kernels && columnOf(kernels, "name")?.filter((name): name is string => typeof name === "string")) ?? [];
  const chosen = useViewerState(viewer, (state) => state.charts.kernel);
  const name = chosen !== null && names.includes(chosen) ? chosen : names[0];
  const [state, setState] = useState<{ executions?: Executions; error?: string }>({});
  useEffect(() => {
    let current = true;
    if (name !== undefined)
      executionsOf(viewer.recording, name, reportedPart(viewer.recording), () => current).then(
        (executions) => executions && current && setState({ executions }),
        (error: unknown) => current && setState({ error: String(error) }),
      );
    return () => void (current = false);
  }, [viewer, name]);
  if (name === undefined) return <MissingChart id="durations" title={TITLE} report={report} {...NO_KERNELS} />;
  const { executions, error } = state;
  const options = names.slice(0, MAX_OPTIONS);
  const choose = (kernel: string) => viewer.set({ charts: { kernel } });
  const tools = (
    <select aria-label="Kernel" value={name} onChange={(event) => choose(event.currentTarget.value)}>
      {[...options, ...(options.includes(name) ? [] : [name])].map((each) => (
        <option key={each} value={each}>{shortName(each)}</option>
      ))}
    </select>
  );
  const ready = executions !== undefined && executions.name === name;
  return (
    <ChartSection
      id="durations" title={TITLE} tools={tools} hint="Click a bar to show its first execution."
      about={error ?? (ready ? summaryOf(executions) : "Reading executions…")}
    >
      {ready && executions.length > 0 && <Histogram viewer={viewer} executions={executions} />}
      <KindLegend viewers={[viewer]} />
    </ChartSection>
  );
}

function summaryOf(executions: Executions): string {
  const sorted = executions.dur.slice().sort();
  const at = (share: number) => duration(percentileOf(sorted, share));
  const figures = `shortest ${at(0)}, median ${at(0.5)}, 95th percentile ${at(0.95)}, longest ${at(1)}`;
  return `${plural(executions.length, "execution")}: ${figures}.`;
}

function textOf({ from, to, count }: Bin): string {
  const exactly = `${exact(Math.ceil(from))} to ${amount(Math.floor(to), "count")} ns`;
  return `${grouped(count)} of ${duration(from)} to ${duration(to)}\n${exactly}`;
}

function Histogram({ viewer, executions }: { viewer: Viewer; executions: Executions }) {
  const fill = useFill()(colorOf("kernel", executions.name));
  const sorted = executions.dur.slice().sort();
  const bins = logBins(sorted, BINS);
  const most = Math.max(...bins.map((bin) => bin.count));
  const [low, high] = [Math.max(1, sorted[0]!), Math.max(1, sorted[sorted.length - 1]!)];
  const place = (value: number, width: number) =>
    isOne ? width / 2 : (Math.log(value / low) / Math.log(high / low)) * width;
  const y = (count: number) => HEIGHT - (count / most) * (HEIGHT - 8);
  const open = (bin: Bin, isLast: boolean) => {
    const found = executions.dur.findIndex((dur) => dur >= bin.from && (isLast ? dur <= bin.to : dur < bin.to));
    const selection = found < 0 ? null : executionAt(executions, found);
    viewer.highlight([executions.name]);
    if (selection) viewer.choose(selection, true);
  };
  const isOne = high === low;
  const ticks = isOne ? [{ at: low, text: duration(low) }] : logTicks(low, high, (ns) => moment(ns, (high - low) / 20));
  const axes = (width: number) => ({
    x: axisOf("duration (logarithmic)", ticks, (at) => place(at, width)),
    y: axisOf("executions", linearTicks(most, "count", 4), y),
  });
  return (
    <Chart label={`Histogram of ${executions.length} durations`} height={HEIGHT} axes={axes}>
      {(width) =>
        bins.map((bin, i) => {
          const middle = width / 2;
          const left = place(Math.max(low, bin.from), width);
          const [x0, x1] = isOne ? [middle - 20, middle + 20] : [left, place(bin.to, width)];
          return (
            bin.count > 0 && (
              <rect
                key={i}
                class="bar"
                x={x0}
                y={Math.min(y(bin.count), HEIGHT - 1.5)}
                width={Math.max(1, x1 - x0 - 1)}
                height={Math.max(1.5, HEIGHT - y(bin.count))}
                fill={fill}
                data-count={bin.count}
                onClick={() => open(bin, i === bins.length - 1)}
              >
                <title>{textOf(bin)}</title>
              </rect>
            )
          );
        })
      }
    </Chart>
  );
}
