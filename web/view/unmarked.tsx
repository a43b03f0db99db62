// A note that highlighted events have no marks because there are too many.

import { counted, grouped } from "../layout/time_text.ts";
import { MAX_MARKS } from "../model/marks.ts";
import type { Viewer } from "../model/viewer.ts";
import { useViewer } from "./use_state.ts";

export function Unmarked({ viewer }: { viewer: Viewer }) {
  const events = useViewer(viewer, (state) => state.unmarked);
  return (
    <span class="quiet unmarked" role="status">
      {events > 0 && `No marks: ${counted(events, "event")} highlighted; the limit is ${grouped(MAX_MARKS)}`}
    </span>
  );
}
