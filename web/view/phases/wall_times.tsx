// The wall times of the iterations of each phase as histograms over one axis, whose bins have equal ratio.

import { phaseOf, PHASES } from "../../layout/colors.ts";
import { logBins, type Bin } from "../../layout/log_bins.ts";
import { duration, grouped, moment, plural } from "../../layout/time_text.ts";
import { logTicks } from "../../layout/value_ticks.ts";
import type { EngineIteration } from "../../model/recording/iterations.ts";
import { axisOf, Chart } from "../charts/chart.tsx";
import { ChartSection } from "../charts/chart_section.tsx";
import { useFill } from "../parts/use_fill.ts";
import type { WorkerProps } from "./phase_table.tsx";
import { showIteration } from "./slowest_iterations.tsx";

const LANE = 54; // css pixels for each phase
const HEAD = 8; // of them above the highest bar
const BINS = 60;

type Timed = EngineIteration & { wall: number };

const isTimed = (it: EngineIteration): it is Timed => it.wall !== null && it.wall > 0;

export function WallTimes({ viewer, worker, iterations, of }: WorkerProps) {
  const fill = useFill();
  const timed = iterations.filter(isTimed).sort((a, b) => a.wall - b.wall);
  if (timed.length === 0) return null;
  const bins = logBins(Float64Array.from(timed, ({ wall }) => wall), BINS);
  const present = new Set(timed.map(({ phase }) => phase));
  const phases = [...new Set([...PHASES.map(({ name }) => name), ...present])].filter((phase) => present.has(phase));
  const lanes = phases.map((phase) => bins.map((bin) => ofPhase(timed, bin, phase)));
  const [low, high] = [timed[0]!.wall, timed.at(-1)!.wall];
  const place = (ns: number, width: number) =>
    high === low ? width / 2 : (Math.log(ns / low) / Math.log(high / low)) * width;
  const text = (ns: number) => moment(ns, (high - low) / 20);
  const axes = (width: number) => ({
    x: axisOf("wall time (logarithmic)", high === low ? [{ at: low, text: text(low) }] : logTicks(low, high, text),
      (at) => place(at, width)),
    y: axisOf("", phases.map((phase, at) => ({ at, text: phase })), (at) => (at + 1) * LANE),
  });
  const title = `Wall times by phase${of}`;
  return (
    <ChartSection
      id={`wall-times${worker.process}`} title={title}
      about={`${plural(timed.length, "iteration")}; the highest bar of each phase has the height of its row.`}
      hint="Click a bar to show its longest iteration."
    >
      <Chart label={title} height={LANE * phases.length} axes={axes}>
        {(width) => lanes.map((lane, at) => {
          const most = Math.max(1, ...lane.map((found) => found.length));
          const base = (at + 1) * LANE;
          return lane.map((found, i) => {
            if (found.length === 0) return null;
            const [x0, x1] = high === low ? [width / 2 - 20, width / 2 + 20] : edges(bins[i]!, low, place, width);
            const height = Math.max(2, (found.length / most) * (LANE - HEAD));
            return (
              <rect
                key={`${at} ${i}`} class="bar" x={x0} y={base - height} width={Math.max(2, x1 - x0 - 1)} height={height}
                fill={fill(phaseOf(phases[at]!).code)} data-count={found.length}
                onClick={() => showIteration(viewer, found.at(-1)!)}
              >
                <title>{`${phases[at]}: ${grouped(found.length)} of ${rangeText(found)}`}</title>
              </rect>
            );
          });
        })}
      </Chart>
    </ChartSection>
  );
}

/** The iterations of a bin that are of a phase, by wall time. */
function ofPhase(timed: readonly Timed[], { first, count }: Bin, phase: string): Timed[] {
  return timed.slice(first, first + count).filter((it) => it.phase === phase);
}

function edges(bin: Bin, low: number, place: (ns: number, width: number) => number, width: number): [number, number] {
  return [place(Math.max(low, bin.from), width), place(bin.to, width)];
}

function rangeText(found: readonly Timed[]): string {
  const [shortest, longest] = [duration(found[0]!.wall), duration(found.at(-1)!.wall)];
  return shortest === longest ? shortest : `${shortest} to ${longest}`;
}
