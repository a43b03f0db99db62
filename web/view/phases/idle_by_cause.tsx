// Where the idle time of iterations comes from: the host between two steps, gaps inside launched graphs, or launches.

import { duration, exact, percent } from "../../layout/time_text.ts";
import { FiguresTable } from "../parts/figures_table.tsx";
import { SavePicture } from "../pictures/save_picture.tsx";
import { PartRows, PhaseSwatch, type WorkerProps } from "./phase_table.tsx";

type Cause = { title: string; doc: string; column: "idleBefore" | "idleGraph" | "idleInside" };

const CAUSES: readonly Cause[] = [
  {
    title: "before the first op",
    doc: "The host between two steps: scheduling, input preparation, and waiting for the result of the step before.",
    column: "idleBefore",
  },
  {
    title: "inside CUDA graphs",
    doc: "Between two nodes of one launched graph: no call of the host can shorten it.",
    column: "idleGraph",
  },
  { title: "between other ops", doc: "The rest: launches.", column: "idleInside" },
];

export function IdleByCause({ worker, of }: WorkerProps) {
  const rows = worker.rows.filter(({ wall }) => wall !== null && wall > 0);
  if (rows.length === 0) return null;
  const title = `Idle time of iterations by cause${of}`;
  const heads = ["phase", "wall", ...CAUSES.map(({ title, doc }) => <span key={title} title={doc}>{title}</span>)];
  return (
    <section aria-label={title}>
      <SavePicture title={title} about="with its share of the wall time" />
      <h2>{title} <small>with its share of the wall time</small></h2>
      <FiguresTable label={title} heads={heads}>
        <PartRows rows={rows} columns={heads.length}>
          {({ phase, wall, ...row }) => (
            <>
              <th scope="row"><PhaseSwatch phase={phase} /> {phase}</th>
              <td title={exact(wall!)}>{duration(wall!)}</td>
              {CAUSES.map(({ title, column }) => (
                <Idle key={title} ns={row[column]} wall={wall!} />
              ))}
            </>
          )}
        </PartRows>
      </FiguresTable>
    </section>
  );
}

function Idle({ ns, wall }: { ns: number | null; wall: number }) {
  if (ns === null) return <td>–</td>;
  return (
    <td title={exact(ns)}>
      {duration(ns)} <span class="quiet">{percent(ns / wall)}</span>
    </td>
  );
}
