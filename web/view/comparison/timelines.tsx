// BASE above NEW, aligned at a chosen step. The two windows move together; keys apply to the timeline that the pointer
// or focus entered last. The selections of both are described below.

import { useEffect, useRef } from "preact/hooks";
import { duration } from "../../layout/time_text.ts";
import type { Comparison } from "../../model/comparison.ts";
import { sourceName } from "../../model/source_name.ts";
import type { Viewer } from "../../model/viewer.ts";
import { DetailsPanel } from "../details_panel.tsx";
import { bindKeys } from "../keys.ts";
import { MeasurePanel } from "../measure_panel.tsx";
import type { TimelineCanvas } from "../timeline_canvas.ts";
import { TimelineView } from "../timeline_view.tsx";
import { useViewerState } from "../use_state.ts";

interface Props {
  comparison: Comparison;
  status: string; // result of the last search for a row
  onClear: () => void;
}

export function Timelines({ comparison, status, onClear }: Props) {
  const { base, next } = comparison;
  const active = useRef(next);
  const highlighted = useViewerState(next, (state) => state.highlight !== null);
  useEffect(() => comparison.follow(), [comparison]);
  const clearHighlight = () => {
    for (const viewer of [base, next]) viewer.search("");
    onClear();
  };
  const clear = () => {
    if ([base, next].some(({ state }) => state.highlight !== null)) return clearHighlight();
    for (const viewer of [base, next]) viewer.clearNext();
  };
  const bindControls = (viewer: Viewer) => (timeline: TimelineCanvas) => {
    const activate = () => void (active.current = viewer);
    for (const type of ["pointerenter", "focus"]) timeline.canvas.addEventListener(type, activate);
    return bindKeys(timeline, { isActive: () => active.current === viewer, focusSearch: () => {}, step: () => {}, clear });
  };
  return (
    <section class="timelines" aria-label="Timelines of both recordings">
      <header>
        <h2>Timelines</h2>
        <Steps comparison={comparison} />
        {highlighted && <button onClick={clearHighlight}>Clear highlight</button>}
        <span role="status" class="warning">
          {status}
        </span>
      </header>
      {([["BASE", base], ["NEW", next]] as const).map(([side, viewer]) => (
        <div key={side} class="side">
          <h3>
            {side} <small>{sourceName(viewer.recording.manifest)}</small>
          </h3>
          <TimelineView viewer={viewer} label={`Timeline of ${side}. W and S zoom, A and D pan. Both timelines move together.`} onCanvas={bindControls(viewer)} />
        </div>
      ))}
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

/** Chooses the step that both timelines are aligned at, and shows its duration in each. */
function Steps({ comparison }: { comparison: Comparison }) {
  const { next, pairs } = comparison;
  const chosen = useViewerState(next, (state) => Math.min(state.aligned, pairs.length - 1));
  const pair = pairs[chosen]!;
  const [before, after] = [pair.base.to - pair.base.from, pair.next.to - pair.next.from];
  const difference = after - before;
  const label = pair.name === "" ? "Aligned at the first device work: the recordings have no steps in common" : "";
  return (
    <div class="steps">
      {label}
      {pair.name !== "" && (
        <>
          <button onClick={() => comparison.align(chosen - 1)} disabled={chosen === 0} aria-label="Previous step" title="Previous step">
            ‹
          </button>
          <label>
            Aligned at{" "}
            <select value={chosen} onChange={(event) => comparison.align(Number(event.currentTarget.value))}>
              {pairs.map(({ name }, i) => (
                <option key={i} value={i}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <button onClick={() => comparison.align(chosen + 1)} disabled={chosen === pairs.length - 1} aria-label="Next step" title="Next step">
            ›
          </button>
        </>
      )}
      <output>
        {duration(before)} → {duration(after)} ({difference < 0 ? "−" : "+"}
        {duration(Math.abs(difference))})
      </output>
    </div>
  );
}
