// How many rows of an SQL answer are marked on the timeline, and the way back.

import { plural } from "../../layout/time_text.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { useViewerState } from "../parts/use_state.ts";

export function AnswerMarks({ viewer }: { viewer: Viewer }) {
  const answer = useViewerState(viewer, (state) => state.sql.answer);
  if (answer === null) return null;
  return (
    <span class="answer-marks" role="group" aria-label="Rows of the SQL answer">
      <button onClick={() => viewer.openPage("sql")}>{plural(answer.ranges.length, "row")} of the SQL answer</button>
      <button onClick={() => viewer.set({ sql: { answer: null } })}>Clear marks</button>
    </span>
  );
}
