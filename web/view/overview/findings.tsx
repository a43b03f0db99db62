// Findings as cards: cost and remedy, and on demand the evidence and confidence. The evidence of the first is open.

import { pct } from "../../layout/cell_text.ts";
import { duration, exact } from "../../layout/time_text.ts";
import { mostExposed, readCommunication } from "../../model/recording/communication.ts";
import { tableOf, type Finding, type Report } from "../../model/recording/report.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { showCommunication } from "../charts/overlap.tsx";
import { LinkedText } from "../parts/linked_text.tsx";

const MARKS: Record<string, string> = { high: "●", medium: "◐", low: "○" };

export function Findings({ viewer, report }: { viewer: Viewer; report: Report }) {
  if (report.verdict === null) return null;
  return (
    <section class="findings" aria-label="Findings">
      <h2>Findings {report.findings.length > 1 && <small>costs can overlap and do not add up</small>}</h2>
      {report.findings.length === 0 && <p>No findings above the reporting threshold.</p>}
      {report.findings.map((finding, i) => (
        <Card key={i} viewer={viewer} report={report} finding={finding} isOpen={i === 0} />
      ))}
    </section>
  );
}

function costText({ predicted, cost_ns: cost, share_pct: share }: Finding, whole: string): string {
  if (predicted && share !== null) return `predicted gain ${pct(share)} of a step`;
  return (cost === null ? "cost unknown" : duration(cost)) + (share === null ? "" : ` · ${pct(share)} of ${whole}`);
}

const SUMMED = "of device time, summed over all devices";
type CardProps = { viewer: Viewer; report: Report; finding: Finding; isOpen: boolean };

function Card({ viewer, report, finding, isOpen }: CardProps) {
  const { severity, title, cost_ns: cost, evidence, remedy, confidence, would_change_if: refuted } = finding;
  const hasTimes = viewer.recording.manifest.lanes.length > 0;
  const ofStep = report.verdict?.share_of === "the critical path";
  return (
    <article class={`finding ${MARKS[severity] ? severity : ""}`}>
      <header>
        <span class="severity">{MARKS[severity] ?? "●"} {severity}</span>
        <h3>
          <LinkedText viewer={viewer} report={report} text={title} />
        </h3>
        <span class="cost" title={cost === null ? undefined : `Estimated cost: ${exact(cost)} ${SUMMED}`}>
          {costText(finding, hasTimes ? (ofStep ? "a step" : "the recorded time") : "the time with counters")}
        </span>
      </header>
      <p class="remedy">
        <span aria-hidden="true">→ </span>
        <LinkedText viewer={viewer} report={report} text={remedy} />
      </p>
      {ABOUT_COMMUNICATION.has(finding.id) && <ShowCommunication viewer={viewer} report={report} />}
      <details open={isOpen}>
        <summary>Evidence <small>{confidence !== null && `${confidence} confidence`}</small></summary>
        <ul>
          {evidence.map((line, i) => (
            <li key={i}>
              <LinkedText viewer={viewer} report={report} text={line} />
            </li>
          ))}
        </ul>
        {refuted !== null && <p class="sure">This would change if {refuted}.</p>}
      </details>
    </article>
  );
}

const ABOUT_COMMUNICATION = new Set(["exposed-communication", "small-collectives", "fp32-gradients", "late-ranks"]);

/** Leads to the step and device with the most exposed time, on the track of communication. */
function ShowCommunication({ viewer, report }: { viewer: Viewer; report: Report }) {
  const table = tableOf(report, "communication");
  if (table === null || table.rows.length === 0) return null;
  const show = async () => {
    const communication = await readCommunication(viewer.recording, table);
    const worst = communication && mostExposed(communication, 1)[0];
    if (worst) showCommunication(viewer, worst.device, worst.cell);
    else viewer.openTable("communication");
  };
  const text = "Show the most exposed communication on the timeline";
  return <button class="handle" onClick={() => void show()}>{text}</button>;
}
