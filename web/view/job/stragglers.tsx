// Who holds the job up: unit, cause, price, evidence, advice. A click selects the cell in which the unit is worst.

import { pct } from "../../layout/cell_text.ts";
import { duration, exact, plural } from "../../layout/time_text.ts";
import { selectCell, type JobProps } from "../../model/job/job_cell.ts";
import type { Unit } from "../../model/job/job.ts";

const WORST_TITLE = "Show the cell in which it is worst";
const COST_TITLE = "What a step would gain if only this unit were as its peers";
const ALONE_TITLE = "What it would cost a step if all other named units were fixed";

export function Stragglers({ viewer, job, chosen, reason }: JobProps & { reason: string }) {
  if (job.units.length === 0)
    return (
      <section class="stragglers" aria-label="Stragglers">
        <h2>Stragglers</h2>
        <p class="about">None: {reason}.</p>
      </section>
    );
  const show = ({ worst, quantity }: Unit) => worst && selectCell(viewer, job, worst[0], worst[1], quantity);
  return (
    <section class="stragglers" aria-label="Stragglers">
      <h2>Stragglers</h2>
      <ol>
        {job.units.map((unit, i) => (
          <li key={i} class={unit.named ? "" : "hidden-unit"} aria-current={isShown(unit, chosen) ? "true" : undefined}>
            <header>
              <button class="handle" disabled={unit.worst === null} onClick={() => show(unit)} title={WORST_TITLE}>
                {unit.unit}
              </button>
              <span>{unit.cause}</span>
            </header>
            <dl>
              <Price name="cost per step" ns={unit.cost} share={job.stepTime} title={COST_TITLE} />
              <Price name="alone" ns={unit.alone} share={job.stepTime} title={ALONE_TITLE} />
              <div title="Standard error of the price over the steps; unknown if there is only one">
                <dt>error</dt>
                <dd>{unit.error === null ? "–" : duration(Math.round(unit.error))}</dd>
              </div>
              <div>
                <dt>{plural(unit.steps, "step")}</dt>
                <dd>{stepsText(unit)}</dd>
              </div>
            </dl>
            <p>{unit.evidence}.{!unit.named && " Slow, but it holds nobody up for certain."}</p>
            <p class="advice">{unit.advice}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

function stepsText({ firstStep, lastStep }: Unit) {
  if (firstStep === null) return "–";
  return firstStep === lastStep ? firstStep : `${firstStep} to ${lastStep}`;
}

const isShown = ({ worst }: Unit, { rank, step }: JobProps["chosen"]): boolean =>
  worst !== null && worst[0] === rank && worst[1] === step;

function Price({ name, ns, share, title }: { name: string; ns: number; share: number; title: string }) {
  return (
    <div title={`${title}: ${exact(ns)}`}>
      <dt>{name}</dt>
      <dd>{duration(Math.round(ns))} {share > 0 && <small>{pct((100 * ns) / share)}</small>}</dd>
    </div>
  );
}
