// A note that highlighted events have no marks because there are too many.

import { plural, grouped } from "../layout/time_text.ts";
import { MAX_MARKS } from "../model/marks.ts";
import type { Viewer } from "../model/viewer.ts";
import { useViewerState } from "./use_state.ts";

export function MarkLimit({ viewer }: { viewer: Viewer }) {
  const events = useViewerState(viewer, (state) => state.unmarkedEvents);
  return (
    <span class="quiet mark-limit" role="status">
      {events > 0 && `No marks: ${plural(events, "event")} highlighted; the limit is ${grouped(MAX_MARKS)}`}
    </span>
  );
}
