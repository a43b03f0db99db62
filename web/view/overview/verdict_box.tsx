// The verdict: its name, its share of a step or of the window, how much is recoverable, the confidence, and where the
// rest went.

import { Fragment } from "preact";
import { duration } from "../../layout/time_text.ts";
import type { Report, Verdict } from "../../model/recording/report.ts";
import { namedSteps, stepsOf } from "../../model/range/step_entries.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { pct } from "../../layout/cell_text.ts";
import { LinkedText } from "../parts/linked_text.tsx";

export function VerdictBox({ viewer, report, verdict }: { viewer: Viewer; report: Report; verdict: Verdict }) {
  const predicted = verdict.share_of === "the critical path";
  return (
    <section class="verdict" aria-label="Verdict">
      <h1>{verdict.title}</h1>
      <p class="because">
        <LinkedText viewer={viewer} report={report} text={verdict.because} />
      </p>
      <dl>
        {verdict.share_pct !== null && (
          <Figure name={`of ${predicted ? "a step" : verdict.share_of}`} value={pct(verdict.share_pct)} />
        )}
        {verdict.gives_back_pct !== null && (
          <Figure name={predicted ? "predicted gain" : "recoverable (estimate)"} value={pct(verdict.gives_back_pct)} />
        )}
        {verdict.confidence !== null && (
          <Figure name={`confidence, from ${verdict.basis}`} value={verdict.confidence} />
        )}
      </dl>
      {verdict.parts.length > 0 && <Parts report={report} verdict={verdict} />}
    </section>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Where the step or the window went; all shares are of it. */
function Parts({ report, verdict }: { report: Report; verdict: Verdict }) {
  const step = verdict.share_of === "the critical path";
  const recording = verdict.recorder_ns
    ? `, ${step ? "without" : "with up to"} ${duration(verdict.recorder_ns)} of recording`
    : "";
  const median = step ? namedSteps(stepsOf(report)).find(({ key }) => key === "median") : undefined;
  const recorded = median && ` (the median step took ${duration(median.range.to - median.range.from)} as recorded)`;
  return (
    <p class="also">
      {step ? "A step" : "The window"} of {duration(verdict.whole_ns ?? 0)}{recording}{recorded}: {" "}
      {verdict.parts.map(({ text, time_ns: time, share_pct: share }, i) => (
        <Fragment key={text}>
          {i > 0 && ", "}
          <span class="unbroken">
            {text} {time !== null && duration(time)} {share !== null && `(${pct(share)})`}
          </span>
        </Fragment>
      ))}
    </p>
  );
}
