// A note that highlighted events have no marks because there are too many.

import { grouped } from "../../layout/time_text.ts";
import { MAX_MARKS } from "../../model/search/marks.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { useViewerState } from "../parts/use_state.ts";

export function MarkLimit({ viewer }: { viewer: Viewer }) {
  const events = useViewerState(viewer, (state) => state.found.unmarkedEvents);
  return (
    <span class="quiet mark-limit" role="status">
      {events > 0 && `Too many events to mark: ${grouped(events)} match, the limit is ${grouped(MAX_MARKS)}`}
    </span>
  );
}
