// Waits until the program that serves the page has prepared the recording, and tells how far it is: /progress
// of the view format. A request lasts a few milliseconds, so the page asks again and again.

import { array, number, text } from "./json.ts";

export type Stage = "reading" | "analysing" | "arranging";

export interface Progress {
  stage: Stage;
  share: number | null; // of the stage, 0 to 1; null: unknown
  known: readonly string[]; // the verdict and the findings
  elapsed_s: number;
}

const STAGES: readonly string[] = ["reading", "analysing", "arranging"] satisfies Stage[];
const PAUSE = 200; // ms between two requests

/** Rejected with the reason if the recording cannot be shown. */
export async function prepared(ask: () => Promise<unknown>, show: (progress: Progress) => void): Promise<void> {
  for (;;) {
    const reply = await ask();
    const { stage, share, known, elapsed_s, problem } = (reply ?? {}) as Record<string, unknown>;
    if (stage === "ready") return;
    if (stage === "failed") throw new Error(typeof problem === "string" ? problem : "the recording cannot be shown");
    if (typeof stage === "string" && STAGES.includes(stage)) {
      const part = typeof share === "number" ? Math.min(1, Math.max(0, share)) : null;
      show({ stage: stage as Stage, share: part, known: array(known).map(text), elapsed_s: number(elapsed_s) });
    }
    await new Promise((resume) => setTimeout(resume, PAUSE));
  }
}
