// What the page shows while the program prepares the recording: the stage, how far it is, the time so far, and what
// is known already. Of a long recording the timeline comes first; then a line above each page says that the answer is
// being computed, and what it is once it is there.

import type { Viewer } from "../../model/page/viewer.ts";
import type { Progress, Stage } from "../../read/preparation.ts";
import { LinkedText } from "../parts/linked_text.tsx";
import { unbroken } from "../parts/unbroken.tsx";
import { useAsync, useViewerState } from "../parts/use_state.ts";

const LABELS: Record<Stage, string> = {
  reading: "Reading the recording", arranging: "Preparing the timeline", analysing: "Analysing the recording",
};
const ORDER: readonly Stage[] = ["reading", "arranging", "analysing"];

export function Preparing({ progress: { stage, share, known, elapsed_s } }: { progress: Progress }) {
  const label = LABELS[stage];
  return (
    <main class="preparing">
      <h1>
        {label}
        {share !== null && `: ${Math.round(100 * share)} %`}
      </h1>
      <progress aria-label={label} {...(share === null ? {} : { value: share, max: 1 })} />
      <p role="status" class="spoken">{label}</p>
      <Known lines={known} />
      <p>Step {ORDER.indexOf(stage) + 1} of {ORDER.length} · {Math.floor(elapsed_s)} s</p>
    </main>
  );
}

function Known({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <section aria-label="Known so far">
      <h2>Known so far</h2>
      <ul>
        {lines.map((line) => (
          <li key={line}>{unbroken(line)}</li>
        ))}
      </ul>
    </section>
  );
}

/** Instead of the answer, while it is being computed or read. */
export function AnswerSoFar({ viewer }: { viewer: Viewer }) {
  const answer = useViewerState(viewer, (state) => state.answer);
  if (answer === null || answer === "ready") return <p class="notice">Reading the report…</p>;
  return (
    <div class="preparing">
      <h1>The answer is being computed</h1>
      <progress aria-label="The answer is being computed" />
      <Known lines={answer.known} />
    </div>
  );
}

/** Of one height, so that nothing below it moves when the answer is there. */
export function AnswerLine({ viewer }: { viewer: Viewer }) {
  const answer = useViewerState(viewer, (state) => state.answer);
  if (answer === null) return null;
  if (answer === "ready") return <ReadyLine viewer={viewer} />;
  return (
    <section class="answer-line" aria-label="Answer">
      <span role="status">The answer is being computed</span>
      <span class="quiet">{Math.floor(answer.elapsed_s)} s</span>
      <span class="known">{answer.known[0]}</span>
    </section>
  );
}

function ReadyLine({ viewer }: { viewer: Viewer }) {
  const { value: report } = useAsync(() => viewer.recording.report().catch(() => null), viewer);
  const verdict = report?.verdict;
  return (
    <section class="answer-line" aria-label="Answer">
      <span role="status">{verdict?.title ?? "The answer is there"}</span>
      <span class="known">{verdict && <LinkedText viewer={viewer} report={report} text={verdict.because} />}</span>
      <button onClick={() => viewer.set({ page: "overview", answer: null })}>Overview</button>
      <button onClick={() => viewer.set({ answer: null })}>Dismiss</button>
    </section>
  );
}
