// The critical path: the button that marks it on the timeline, and while it is marked, what each class of its parts
// takes, or why there is none.

import { pct } from "../../layout/cell_text.ts";
import { MAX_LINKED } from "../../layout/critical_path.ts";
import { duration, exact, moment } from "../../layout/time_text.ts";
import { noteOf } from "../../model/recording/report.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { useAsync, useViewerState } from "../parts/use_state.ts";

export const togglePath = (viewer: Viewer): void =>
  viewer.set({ timeline: { criticalPath: !viewer.state.timeline.criticalPath } });

export function PathSwitch({ viewer }: { viewer: Viewer }) {
  const shown = useViewerState(viewer, (state) => state.timeline.criticalPath);
  return (
    <button aria-pressed={shown} title="Mark the critical path on the tracks (C)" onClick={() => togglePath(viewer)}>
      Critical path
    </button>
  );
}

export function PathPanel({ viewer }: { viewer: Viewer }) {
  const shown = useViewerState(viewer, (state) => state.timeline.criticalPath);
  if (!shown) return null;
  const { critical_path: path, part_ns: part } = viewer.recording.manifest;
  const inPart = part && `, in the reported part (${moment(part[0], 1)} to ${moment(part[1], 1)})`;
  return (
    <section class="path" aria-label="Critical path">
      <h2>Critical path <button onClick={() => viewer.openTable("criticalpath")}>Show the table</button></h2>
      {path === null ? (
        <Reason viewer={viewer} />
      ) : (
        <>
          <p class="quiet">
            What makes the steps as long as they are, once the profiler's cost is removed, from the end of the first
            step to that of the last{inPart}. Each part begins when the one before ends.
          </p>
          <table>
            <tbody>
              {path.parts.map(({ part, total_ns, share_pct }) => (
                <tr key={part} title={exact(total_ns)}>
                  <th scope="row">{part}</th>
                  <td>{duration(total_ns)}</td>
                  <td>{pct(share_pct)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="quiet">
            Bands mark its parts at their recorded times. Lines between tracks appear when the window has at most{" "}
            {MAX_LINKED} parts.
          </p>
        </>
      )}
    </section>
  );
}

function Reason({ viewer }: { viewer: Viewer }) {
  const { value: report, error } = useAsync(() => viewer.recording.report(), viewer);
  if (error !== undefined) return <p class="warning">Cannot read the report: {error}</p>;
  return <p>{report && (noteOf(report, "criticalpath") ?? "No critical path: this document has none.")}</p>;
}
