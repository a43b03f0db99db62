// The phases of a server of language models: what each costs, what limits it, where its idle time comes from, how its
// steps are distributed, and which are the slowest. Every number is of the analyses `phases` and `iterations`.

import { phasesOf, type WorkerPhases } from "../model/recording/phases.ts";
import { readIterations, type EngineIteration } from "../model/recording/iterations.ts";
import { tableOf, type Report } from "../model/recording/report.ts";
import type { Viewer } from "../model/page/viewer.ts";
import { plural } from "../layout/time_text.ts";
import { IdleByCause } from "./phases/idle_by_cause.tsx";
import { PhaseTable } from "./phases/phase_table.tsx";
import { SlowestIterations } from "./phases/slowest_iterations.tsx";
import { WallTimes } from "./phases/wall_times.tsx";
import { useAsync } from "./parts/use_state.ts";

export function Phases({ viewer }: { viewer: Viewer }) {
  const { recording } = viewer;
  const { value, error } = useAsync(() => Promise.all([recording.report(), readIterations(recording)]), viewer);
  if (error !== undefined) return <p class="notice">Cannot read the report: {error}</p>;
  if (value === undefined) return <p class="notice">Reading the report…</p>;
  const [report, iterations] = value;
  return (
    <article class="answer phases">
      <h1 class="spoken">Phases</h1>
      {notesOf(report).map((note) => (
        <p key={note} class="quiet">{note}</p>
      ))}
      {phasesOf(report).map((worker) => (
        <Worker key={worker.process} {...{ viewer, worker }} all={iterations} />
      ))}
      <p>
        <button class="handle" onClick={() => viewer.openTable("iterations")}>
          Show all {plural(iterations.length, "iteration")}
        </button>
      </p>
    </article>
  );
}

/** How steps were found, and what is unknown. */
function notesOf(report: Report): string[] {
  return ["iterations", "phases"].flatMap((name) => tableOf(report, name)?.notes ?? []);
}

type WorkerProps = { viewer: Viewer; worker: WorkerPhases; all: readonly EngineIteration[] };

function Worker({ viewer, worker, all }: WorkerProps) {
  const own = all.filter(({ process }) => process === worker.process);
  const of = worker.name === "" ? "" : ` of ${worker.name}`;
  const page = { viewer, worker, iterations: own, of };
  return (
    <>
      <PhaseTable {...page} />
      <IdleByCause {...page} />
      <WallTimes {...page} />
      <SlowestIterations {...page} />
    </>
  );
}
