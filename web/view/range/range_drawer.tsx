// What happened in the measured range, below the timeline: tables, or a flame graph.

import { useEffect, useLayoutEffect } from "preact/hooks";
import { duration } from "../../layout/time_text.ts";
import type { Drawer, DrawerView } from "../../model/range/drawer.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { warmStacks } from "../../model/range/warm.ts";
import { FlamePanel } from "../flame/flame_panel.tsx";
import { useViewerState } from "../parts/use_state.ts";
import { AnswerTables } from "./answer_tables.tsx";
import { useRangeAnswer } from "./use_range_answer.ts";

const VIEWS: Readonly<Record<DrawerView, string>> = { tables: "Tables", flame: "Flame graph" };
const AFTER_FIRST_FRAME = 600; // ms

export function RangeDrawer({ viewer }: { viewer: Viewer }) {
  const range = useViewerState(viewer, (state) => state.range);
  const { view, open } = useViewerState(viewer, (state) => state.drawer);
  const set = (change: Partial<Drawer>) => viewer.set({ drawer: { ...viewer.state.drawer, ...change } });
  useEffect(() => {
    const timer = setTimeout(() => warmStacks(viewer.recording), AFTER_FIRST_FRAME);
    return () => clearTimeout(timer);
  }, [viewer]);
  const { answer, asked, error } = useRangeAnswer(viewer, range);
  useLayoutEffect(() => {
    if (answer && asked !== undefined) performance.measure("range answer", { start: asked, end: performance.now() });
  }, [answer]);
  if (range === null) return null;
  const answered = answer && `${answer.range.from}-${answer.range.to}`;
  return (
    <section class="range-drawer" aria-label="Events in the measured range" data-answered={answered}>
      <header>
        <h2>Events in the measured range <small>{duration(range.to - range.from)}</small></h2>
        <div role="group" aria-label="View of the range">
          {(Object.entries(VIEWS) as [DrawerView, string][]).map(([key, name]) => (
            <button key={key} aria-pressed={open && view === key} onClick={() => set({ view: key, open: true })}>
              {name}
            </button>
          ))}
        </div>
        <button aria-expanded={open} onClick={() => set({ open: !open })}>{open ? "Hide" : "Show"}</button>
      </header>
      {open && (
        <div class="range-body" tabIndex={0} role="region" aria-label="Figures of the range">
          {error !== undefined && <p class="warning">{error}</p>}
          {answer === undefined && error === undefined && <p class="quiet">Reading events…</p>}
          {answer && view === "tables" && <AnswerTables viewer={viewer} answer={answer} />}
          {answer && view === "flame" && (
            <FlamePanel viewer={viewer} answer={answer} label="Flame graph of the measured range" />
          )}
        </div>
      )}
    </section>
  );
}
