// Waits until the program that serves the page has prepared the recording, and tells how far it is: /progress
// of the view format. A request lasts a few milliseconds, so the page asks again and again.

import { array, number, text } from "./json.ts";

export type Stage = "reading" | "arranging" | "analysing";
/** What is waited for: the timeline, which of a long recording comes first, or all of it. */
export type Part = "timeline" | "answer";

export interface Progress {
  stage: Stage;
  share: number | null; // of the stage, 0 to 1; null: unknown
  known: readonly string[]; // the verdict and the findings
  elapsed_s: number;
}

const STAGES: readonly string[] = ["reading", "arranging", "analysing"] satisfies Stage[];
const PAUSE = 40; // ms between two requests

/** Whether the answer is there too. Rejected with the reason if the recording cannot be shown. */
export async function prepared(
  ask: () => Promise<unknown>,
  part: Part,
  show: (progress: Progress) => void,
): Promise<boolean> {
  for (;;) {
    const reply = await ask();
    const { stage, share, known, timeline, elapsed_s, problem } = (reply ?? {}) as Record<string, unknown>;
    if (stage === "ready") return true;
    if (stage === "failed") throw new Error(typeof problem === "string" ? problem : "the recording cannot be shown");
    if (typeof stage === "string" && STAGES.includes(stage)) {
      const done = typeof share === "number" ? Math.min(1, Math.max(0, share)) : null;
      show({ stage: stage as Stage, share: done, known: array(known).map(text), elapsed_s: number(elapsed_s) });
    }
    if (part === "timeline" && timeline === true) return false;
    await new Promise((resume) => setTimeout(resume, PAUSE));
  }
}
