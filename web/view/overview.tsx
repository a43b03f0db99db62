// The first page: what the numbers rest on, the verdict, the findings.

import type { Viewer } from "../model/viewer.ts";
import { useLoaded } from "./use_state.ts";

export function Overview({ viewer }: { viewer: Viewer }) {
  const { value: report, error } = useLoaded(() => viewer.recording.report(), viewer);
  if (error !== undefined) return <p class="notice">The report cannot be read: {error}</p>;
  if (report === undefined) return <p class="notice">Reading the report…</p>;
  return (
    <article class="overview">
      <ul class="trust" aria-label="What the numbers rest on">
        {report.trust.map((line) => (
          <li class={line.warning ? "warning" : ""}>
            {line.warning ? "! " : ""}
            {line.text}
          </li>
        ))}
      </ul>
      {report.verdict && (
        <section aria-label="Verdict">
          <h1>{report.verdict.name}</h1>
          <p>{report.verdict.because}</p>
        </section>
      )}
      <section aria-label="Findings">
        {report.findings.map((finding) => (
          <section class="finding" key={finding.id}>
            <h2>{finding.title}</h2>
            <p>{finding.evidence}</p>
            <p>{finding.remedy}</p>
          </section>
        ))}
      </section>
    </article>
  );
}
