// What the page shows while the program prepares the recording: the stage, how far it is, the time so far, and what
// is known already.

import { unbroken } from "../parts/unbroken.tsx";
import type { Progress, Stage } from "../../read/preparation.ts";

const LABELS: Record<Stage, string> = {
  reading: "Reading the recording", analysing: "Analysing the recording", arranging: "Preparing the timeline",
};
const ORDER: readonly Stage[] = ["reading", "analysing", "arranging"];

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
      {known.length > 0 && (
        <section aria-label="Known so far">
          <h2>Known so far</h2>
          <ul>
            {known.map((line) => (
              <li key={line}>{unbroken(line)}</li>
            ))}
          </ul>
        </section>
      )}
      <p>Step {ORDER.indexOf(stage) + 1} of {ORDER.length} · {Math.floor(elapsed_s)} s</p>
    </main>
  );
}
