// The iterations that take longest beyond the median of their phase; each leads to its wall time on the timeline.

import { duration, exact, signedDuration } from "../../layout/time_text.ts";
import type { EngineIteration } from "../../model/recording/iterations.ts";
import type { WorkerPhases } from "../../model/recording/phases.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { FiguresTable } from "../parts/figures_table.tsx";
import { SavePicture } from "../pictures/save_picture.tsx";
import { PhaseSwatch, type WorkerProps } from "./phase_table.tsx";

const SHOWN = 10;
const HEADS = [
  "iteration", "phase", "state", "wall", "beyond the median", "busy", "idle before", "idle in graphs", "other idle",
];

export function showIteration(viewer: Viewer, { end, wall }: EngineIteration): void {
  if (end !== null && wall !== null) viewer.goTo({ from: end - wall, to: end }, true);
}

interface Slow {
  it: EngineIteration;
  wall: number;
  beyond: number; // the median of its phase
}

export function SlowestIterations({ viewer, worker, iterations, of }: WorkerProps) {
  const slowest = slowestOf(worker, iterations);
  if (slowest.length === 0) return null;
  const title = `Slowest iterations${of}`;
  return (
    <section aria-label={title}>
      <SavePicture title={title} />
      <h2>{title} <small>by time beyond the median of their phase</small></h2>
      <FiguresTable label={title} heads={HEADS}>
        {slowest.map(({ it, wall, beyond }) => (
          <tr key={it.row} title={it.why ?? undefined}>
            <th scope="row">
              <button class="handle" title="Show on the timeline" onClick={() => showIteration(viewer, it)}>
                {it.number}
              </button>
            </th>
            <td><PhaseSwatch phase={it.phase} /> {it.phase}</td>
            <td>{it.state}</td>
            <td title={exact(wall)}>{duration(wall)}</td>
            <td>{signedDuration(beyond)}</td>
            {[it.busy, it.idleBefore, it.idleGraph, it.idleInside].map((ns, i) => (
              <td key={i} title={ns === null ? undefined : exact(ns)}>{ns === null ? "–" : duration(ns)}</td>
            ))}
          </tr>
        ))}
      </FiguresTable>
    </section>
  );
}

/** The medians are those of the steady part if the phase occurs in it: its rows come first. */
function slowestOf(worker: WorkerPhases, iterations: readonly EngineIteration[]): Slow[] {
  const medians = new Map([...worker.rows].reverse().map(({ phase, p50 }) => [phase, p50]));
  const slow = iterations.flatMap((it): Slow[] => {
    const median = medians.get(it.phase) ?? null;
    return it.wall === null || median === null ? [] : [{ it, wall: it.wall, beyond: it.wall - median }];
  });
  return slow.filter(({ beyond }) => beyond > 0).sort((a, b) => b.beyond - a.beyond).slice(0, SHOWN);
}
