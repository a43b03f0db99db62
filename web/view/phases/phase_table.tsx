// What each phase costs and what limits it, in the steady part and in all iterations.

import { Fragment, type ComponentChildren } from "preact";
import { pct } from "../../layout/cell_text.ts";
import { phaseOf } from "../../layout/colors.ts";
import { duration, exact, grouped, plural } from "../../layout/time_text.ts";
import type { EngineIteration } from "../../model/recording/iterations.ts";
import { partsOf, type PhaseRow, type WorkerPhases } from "../../model/recording/phases.ts";
import { numberOf, tableOf, textOf, type Report } from "../../model/recording/report.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { FiguresTable } from "../parts/figures_table.tsx";
import { Swatch } from "../parts/swatch.tsx";
import { useAsync } from "../parts/use_state.ts";
import { SavePicture } from "../pictures/save_picture.tsx";

/** The properties of the sections about a worker. `of`: " of rank 3", or empty. */
export interface WorkerProps {
  viewer: Viewer;
  worker: WorkerPhases;
  iterations: readonly EngineIteration[];
  of: string;
}

const HEADS = [
  "phase", "iterations", "share", "wall p50", "wall p95", "requests", "tokens/s", "output tokens/s", "busy",
  "limited by", "FLOP/B at most",
];

export function PhaseTable({ viewer, worker, iterations, of }: WorkerProps) {
  const { value: report } = useAsync(() => viewer.recording.report(), viewer);
  if (report === undefined) return null;
  const title = `Phases${of}`;
  return (
    <section aria-label={title}>
      <SavePicture title={title} />
      <h2>{title} <small>{steadyText(iterations)}</small></h2>
      <FiguresTable label={title} heads={HEADS}>
        <PartRows rows={worker.rows} columns={HEADS.length}>
          {(row) => (
            <>
              <th scope="row">
                <PhaseSwatch phase={row.phase} />{" "}
                <button
                  class="handle" title="Show the row of the analysis"
                  onClick={() => viewer.openTable("phases", row.row)}
                >
                  {row.phase}
                </button>
              </th>
              {cellsOf(report, row).map(([text, title], i) => (
                <td key={i} title={title}>{text}</td>
              ))}
            </>
          )}
        </PartRows>
      </FiguresTable>
    </section>
  );
}

type PartProps = { rows: readonly PhaseRow[]; columns: number; children: (row: PhaseRow) => ComponentChildren };

/** Rows of a table below the names of the parts of the recording that they are of. */
export function PartRows({ rows, columns, children }: PartProps) {
  return partsOf(rows).map((part) => (
    <Fragment key={part.title}>
      <tr class="group">
        <th scope="rowgroup" colSpan={columns}>{part.title}</th>
      </tr>
      {part.rows.map((row) => (
        <tr key={row.row}>{children(row)}</tr>
      ))}
    </Fragment>
  ));
}

/** [text, exact text] of each column but the first. */
function cellsOf(report: Report, { row, count, share, p50, p95 }: PhaseRow): [string, string?][] {
  const table = tableOf(report, "phases")!;
  const number = (name: string) => numberOf(table, row, name);
  const time = (ns: number | null): [string, string?] => (ns === null ? ["–"] : [duration(ns), exact(ns)]);
  const count_ = (value: number | null): [string] => [value === null ? "–" : grouped(Math.round(value))];
  const part = (value: number | null): [string] => [value === null ? "–" : pct(value)];
  const [limit, limitShare] = [textOf(table, row, "verdict"), number("verdict_pct")];
  return [
    count_(count), part(share), time(p50), time(p95), count_(number("requests_p50")), count_(number("tokens_per_s")),
    count_(number("output_tokens_per_s")), part(number("busy_pct")),
    [limit === null ? "–" : `${limit}${limitShare === null ? "" : ` (${pct(limitShare)})`}`],
    count_(number("limit_flop_per_byte")),
  ];
}

export function PhaseSwatch({ phase }: { phase: string }) {
  const { code, letter } = phaseOf(phase);
  return <Swatch code={code} letter={letter} />;
}

/** "18 iterations; the steady part is 14 of them, from 2 to 15" */
function steadyText(iterations: readonly EngineIteration[]): string {
  const steady = iterations.filter(({ state }) => state === "steady");
  const all = plural(iterations.length, "iteration");
  if (steady.length === 0) return `${all}, no steady part`;
  const [first, last] = [steady[0]!.number, steady.at(-1)!.number];
  return `${all}; the steady part is ${steady.length} of them, from ${first} to ${last}`;
}
