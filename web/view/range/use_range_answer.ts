// The answer of a range that may change while the last one is being summed, as during a drag: one is summed at a time,
// then the latest range.

import { useEffect, useRef, useState } from "preact/hooks";
import { answerOf, type RangeAnswer } from "../../model/range/range_answer.ts";
import type { Range } from "../../model/recording/range.ts";
import type { Viewer } from "../../model/page/viewer.ts";

interface Shown {
  answer?: RangeAnswer;
  asked?: number; // ms, when the range was set
  error?: string;
}

/** `sum`: what counts as in the range. */
export function useRangeAnswer(viewer: Viewer, range: Range | null, sum = answerOf): Shown {
  const [shown, setShown] = useState<Shown>({});
  const latest = useRef<{ range: Range | null; asked: number }>({ range: null, asked: 0 });
  const running = useRef(false);
  const sumLatest = async () => {
    running.current = true;
    for (let mine = null; mine !== latest.current; ) {
      mine = latest.current;
      const { asked } = mine;
      if (mine.range !== null)
        await sum(viewer.recording, mine.range).then(
          (answer) => setShown({ answer, asked }),
          (error: unknown) => setShown({ error: error instanceof Error ? error.message : String(error) }),
        );
      else setShown({});
      await new Promise((resume) => setTimeout(resume)); // drawing goes on
    }
    running.current = false;
  };
  useEffect(() => {
    latest.current = { range, asked: performance.now() };
    if (!running.current) void sumLatest();
  }, [viewer, range]);
  return shown;
}
