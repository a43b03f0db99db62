// The verdict: its name, its share of the critical path or the window, how much is recoverable, the confidence, and the
// alternatives.

import { Fragment } from "preact";
import type { Report, Verdict } from "../../model/recording/report.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { pct } from "../../layout/cell_text.ts";
import { LinkedText } from "../parts/linked_text.tsx";

export function VerdictBox({ viewer, report, verdict }: { viewer: Viewer; report: Report; verdict: Verdict }) {
  const predicted = verdict.share_of === "the critical path";
  return (
    <section class="verdict" aria-label="Verdict">
      <h1>{verdict.name}</h1>
      <p class="because">
        <LinkedText viewer={viewer} report={report} text={verdict.because} />
      </p>
      <dl>
        {verdict.share_pct !== null && <Figure name={`of ${verdict.share_of}`} value={pct(verdict.share_pct)} />}
        {verdict.gives_back_pct !== null && (
          <Figure name={predicted ? "predicted gain" : "recoverable (estimate)"} value={pct(verdict.gives_back_pct)} />
        )}
        {verdict.confidence !== null && (
          <Figure name={`confidence, from ${verdict.basis}`} value={verdict.confidence} />
        )}
      </dl>
      {verdict.alternatives.length > 0 && <Alternatives verdict={verdict} />}
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

function Alternatives({ verdict }: { verdict: Verdict }) {
  return (
    <p class="also">
      Also: {" "}
      {verdict.alternatives.map(({ name, share_pct: share, because }, i) => (
        <Fragment key={name}>
          {i > 0 && ", "}
          <span class="unbroken" title={because}>{name} {share !== null && pct(share)}</span>
        </Fragment>
      ))}
    </p>
  );
}
