// The timeline page: search, the timeline with its tracks, and a panel for the selection and the measured range.

import { useRef } from "preact/hooks";
import { describeEvent } from "../../layout/event_text.ts";
import type { Details } from "../../model/page/details.ts";
import type { LaneArrow } from "../../model/recording/lane.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { AnswerMarks } from "../sql/answer_marks.tsx";
import { DetailsPanel } from "./details_panel.tsx";
import { bindKeys } from "./keys.ts";
import { Legend, MeasurePanel } from "./measure_panel.tsx";
import { KeptRangeList } from "../range/kept_range_list.tsx";
import { LaunchArrowSwitch } from "../range/launch_arrow_list.tsx";
import { RangeDrawer } from "../range/range_drawer.tsx";
import { SearchBox, type SearchHandle } from "./search_box.tsx";
import type { TimelineCanvas } from "./timeline_canvas.ts";
import { TimelineView } from "./timeline_view.tsx";
import { PanelWidth } from "../parts/panel_width.tsx";
import { PathPanel, PathSwitch, togglePath } from "./path_panel.tsx";
import { MarkLimit } from "./mark_limit.tsx";
import { viewCaption } from "../pictures/caption.ts";
import { PictureMenu } from "../pictures/picture_menu.tsx";
import { useViewerState } from "../parts/use_state.ts";

const LABEL =
  "Timeline. W and S zoom, A and D pan, arrow keys select events. Details of the selected event follow.";

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
      clear: () => viewer.clearNext(),
    });
  };
  const showLinks = (details: Details | null) => {
    if (timeline.current === null) return;
    timeline.current.links = linksOf(viewer, details);
    timeline.current.invalidate();
  };
  const showLaunches = (arrows: readonly LaneArrow[]) => {
    if (timeline.current === null) return;
    timeline.current.launches = arrows;
    timeline.current.invalidate();
  };
  return (
    <>
      <h1 class="spoken">Timeline</h1>
      <div class="tools">
        <SearchBox viewer={viewer} handle={search} onLeave={() => timeline.current?.canvas.focus()} />
        <PathSwitch viewer={viewer} />
        <Hidden viewer={viewer} />
        <AnswerMarks viewer={viewer} />
        <MarkLimit viewer={viewer} />
        <LaunchArrowSwitch viewer={viewer} onArrows={showLaunches} />
        <PictureMenu
          element={() => timeline.current?.canvas.closest(".timeline-view") ?? null} caption={() => viewCaption(viewer)}
        />
      </div>
      <TimelineView viewer={viewer} label={LABEL} onCanvas={begin} />
      <RangeDrawer viewer={viewer} />
      <PanelWidth />
      <aside class="panel" aria-label="Details" tabIndex={0}>
        <div role="status" class="spoken">{selection && describeEvent(viewer.recording, selection)}</div>
        <MeasurePanel viewer={viewer} />
        <KeptRangeList viewer={viewer} />
        <DetailsPanel viewer={viewer} onDetails={showLinks} />
        <PathPanel viewer={viewer} />
        {selection === null && <Legend viewer={viewer} />}
        <p class="quiet">Press ? for all keys, Ctrl+K to go anywhere.</p>
      </aside>
    </>
  );
}

/** Arrows of the selection: from the launch to it, from it to the work it submitted. */
function linksOf(viewer: Viewer, details: Details | null): LaneArrow[] {
  const { selection } = viewer.state;
  if (details === null || selection === null || selection.lane === null) return [];
  const links: LaneArrow[] = [];
  const { lane, from, to } = selection;
  const { launch, work } = details;
  if (launch && launch.lane !== null) links.push([{ lane: launch.lane, time: launch.to }, { lane, time: from }]);
  if (work && work.lane !== null) links.push([{ lane, time: to }, { lane: work.lane, time: work.from }]);
  return links;
}

/** Shows how many tracks are hidden, and restores them. */
function Hidden({ viewer }: { viewer: Viewer }) {
  const hidden = useViewerState(viewer, (state) => state.timeline.hidden);
  if (hidden.size === 0) return null;
  const text = `Show ${hidden.size} hidden ${hidden.size === 1 ? "track" : "tracks"}`;
  return <button onClick={() => viewer.set({ timeline: { hidden: new Set() } })}>{text}</button>;
}
