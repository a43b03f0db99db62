// Two timelines above each other whose windows move together; keys apply to the one that the pointer or focus entered
// last. The selections of both are described below.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Comparison } from "../../model/page/comparison.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { DetailsPanel } from "../timeline/details_panel.tsx";
import { bindKeys } from "../timeline/keys.ts";
import { MeasurePanel } from "../timeline/measure_panel.tsx";
import { viewCaption } from "../pictures/caption.ts";
import { PictureMenu } from "../pictures/picture_menu.tsx";
import type { TimelineCanvas } from "../timeline/timeline_canvas.ts";
import { TimelineView } from "../timeline/timeline_view.tsx";
import { KindLegend } from "../parts/kind_legend.tsx";
import { useViewerState } from "../parts/use_state.ts";

interface Props {
  comparison: Comparison;
  label: string;
  sides: readonly [SideName, SideName];
  control: ComponentChildren; // chooses what is shown
  status: string; // result of the last search for a row
  onClear: () => void;
}

const KEYS = "W and S zoom, A and D pan. Both timelines move together.";

interface SideName {
  short: string;
  long: string;
}

export function SideBySide({ comparison, label, sides, control, status, onClear }: Props) {
  const nameOf = (side: number) => `Timeline of ${sides[side]!.short}`;
  const { base, next } = comparison;
  const active = useRef(next);
  const canvases = useRef<HTMLCanvasElement[]>([]);
  const highlighted = useViewerState(next, (state) => state.found.highlight !== null);
  useEffect(() => comparison.follow(), [comparison]);
  const clearHighlight = () => {
    for (const viewer of [base, next]) viewer.search("");
    onClear();
  };
  const clear = () => {
    if ([base, next].some(({ state }) => state.found.highlight !== null)) return clearHighlight();
    for (const viewer of [base, next]) viewer.clearNext();
  };
  const bindControls = (viewer: Viewer, side: number) => (timeline: TimelineCanvas) => {
    canvases.current[side] = timeline.canvas;
    const activate = () => void (active.current = viewer);
    for (const type of ["pointerenter", "focus"]) timeline.canvas.addEventListener(type, activate);
    const isActive = () => active.current === viewer;
    return bindKeys(timeline, { isActive, focusSearch: () => {}, step: () => {}, clear });
  };
  return (
    <section class="timelines" aria-label={label}>
      <header>
        <h2>Timelines</h2>
        {control}
        {highlighted && <button onClick={clearHighlight}>Clear highlight</button>}
        <span role="status" class="warning">{status}</span>
      </header>
      {[base, next].map((viewer, i) => (
        <div key={i} class="side">
          <header>
            <h3>{sides[i]!.short} <small>{sides[i]!.long}</small></h3>
            <PictureMenu
              element={() => canvases.current[i]?.closest(".timeline-view") ?? null}
              caption={() => viewCaption(viewer, nameOf(i))}
            />
          </header>
          <TimelineView viewer={viewer} label={`${nameOf(i)}. ${KEYS}`} onCanvas={bindControls(viewer, i)} />
        </div>
      ))}
      <KindLegend viewers={[base, next]} />
      <div class="selected">
        {[base, next].map((viewer, i) => (
          <div key={i} class="panel">
            <MeasurePanel viewer={viewer} />
            <DetailsPanel viewer={viewer} onDetails={() => {}} />
          </div>
        ))}
      </div>
    </section>
  );
}
