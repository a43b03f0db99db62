// The timeline page: search, the timeline with its tracks, and a panel for the selection and the measured range.

import { useRef } from "preact/hooks";
import type { Details } from "../model/details.ts";
import type { Viewer } from "../model/viewer.ts";
import { DetailsPanel } from "./details_panel.tsx";
import { bindKeys, KEYS } from "./keys.ts";
import { Legend, MeasurePanel } from "./measure_panel.tsx";
import { SearchBox, type SearchHandle } from "./search_box.tsx";
import type { TimelineCanvas } from "./timeline_canvas.ts";
import { TimelineView } from "./timeline_view.tsx";
import { PathPanel, PathSwitch, togglePath } from "./path_panel.tsx";
import { MarkLimit } from "./mark_limit.tsx";
import { viewCaption } from "./pictures/caption.ts";
import { PictureMenu } from "./pictures/picture_menu.tsx";
import { useViewerState } from "./use_state.ts";

export function Timeline({ viewer }: { viewer: Viewer }) {
  const timeline = useRef<TimelineCanvas | null>(null);
  const search = useRef<SearchHandle | null>(null);
  const selection = useViewerState(viewer, (state) => state.selection);
  const begin = (mine: TimelineCanvas) => {
    timeline.current = mine;
    return bindKeys(mine, {
      focusSearch: () => search.current?.focus(),
      step: (by) => search.current?.step(by),
      togglePath: () => togglePath(viewer),
      clear: () => {
        search.current?.clear();
        viewer.set({ selection: null, range: null });
      },
    });
  };
  const showLinks = (details: Details | null) => {
    if (timeline.current === null) return;
    timeline.current.links = linksOf(viewer, details);
    timeline.current.invalidate();
  };
  return (
    <>
      <div class="tools">
        <SearchBox viewer={viewer} handle={search} />
        <PathSwitch viewer={viewer} />
        <Hidden viewer={viewer} />
        <MarkLimit viewer={viewer} />
        <PictureMenu element={() => timeline.current?.canvas.closest(".timeline-view") ?? null} caption={() => viewCaption(viewer)} />
      </div>
      <TimelineView viewer={viewer} label="Timeline. W and S zoom, A and D pan, arrow keys select events. Details of the selected event follow." onCanvas={begin} />
      <aside class="panel" aria-label="Details">
        <div role="status" class="spoken">
          {selection ? `${selection.table} ${selection.name}` : ""}
        </div>
        <MeasurePanel viewer={viewer} />
        <DetailsPanel viewer={viewer} onDetails={showLinks} />
        <PathPanel viewer={viewer} />
        <Legend viewer={viewer} />
        <Help />
      </aside>
    </>
  );
}

/** Arrows of the selection: from the launch to it, from it to the work it submitted. */
function linksOf(viewer: Viewer, details: Details | null): { lane: number; time: number }[][] {
  const { selection } = viewer.state;
  if (details === null || selection === null || selection.lane === null) return [];
  const links: { lane: number; time: number }[][] = [];
  if (details.launch && details.launch.lane !== null)
    links.push([{ lane: details.launch.lane, time: details.launch.to }, { lane: selection.lane, time: selection.from }]);
  if (details.work && details.work.lane !== null)
    links.push([{ lane: selection.lane, time: selection.to }, { lane: details.work.lane, time: details.work.from }]);
  return links;
}

/** Shows how many tracks are hidden, and restores them. */
function Hidden({ viewer }: { viewer: Viewer }) {
  const hidden = useViewerState(viewer, (state) => state.hidden);
  if (hidden.size === 0) return null;
  return <button onClick={() => viewer.set({ hidden: new Set() })}>Show {hidden.size} hidden {hidden.size === 1 ? "track" : "tracks"}</button>;
}

function Help() {
  return (
    <details class="help">
      <summary>Keyboard shortcuts</summary>
      <table>
        <tbody>
          {KEYS.map(([keys, what]) => (
            <tr key={keys}>
              <th scope="row">{keys}</th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
