// Any two steps or ranges of one recording side by side: both timelines, aligned at their starts, and what differs
// by kernel, cause, operator, call and copy.

import { useEffect, useMemo } from "preact/hooks";
import { duration, signedDuration } from "../layout/time_text.ts";
import { Comparison } from "../model/page/comparison.ts";
import { NO_REPORT } from "../model/recording/read_report.ts";
import type { Report } from "../model/recording/report.ts";
import { entriesOf, type StepEntry } from "../model/range/step_entries.ts";
import { Viewer } from "../model/page/viewer.ts";
import { DifferenceTables } from "./steps/difference_tables.tsx";
import { EntrySelect } from "./steps/entry_select.tsx";
import { SideBySide } from "./steps/side_by_side.tsx";
import { useAsync, useViewerState } from "./parts/use_state.ts";

export function Steps({ viewer }: { viewer: Viewer }) {
  const { value: report, error } = useAsync(() => viewer.recording.report(), viewer);
  if (error !== undefined) return <p class="notice">Cannot read the report: {error}</p>;
  if (report === undefined) return <p class="notice">Reading the report…</p>;
  return <Chosen viewer={viewer} report={report} />;
}

function Chosen({ viewer, report }: { viewer: Viewer; report: Report }) {
  const measured = useViewerState(viewer, (state) => state.range);
  const kept = useViewerState(viewer, (state) => state.kept);
  const compared = useViewerState(viewer, (state) => state.steps.compared);
  const entries = useMemo(() => entriesOf(report, measured, kept), [report, measured, kept]);
  if (entries.length < 2)
    return (
      <article>
        <h1 class="spoken">Steps side by side</h1>
        <p class="notice">
          No steps were found. On the timeline, measure two ranges and keep them with S: they can then be shown side by
          side here.
        </p>
      </article>
    );
  const find = (key: string, usual: StepEntry) => entries.find((entry) => entry.key === key) ?? usual;
  const [a, b] = [find(compared[0], entries[0]!), find(compared[1], entries[entries.length > 2 ? 2 : 1]!)];
  return <ComparedSteps {...{ viewer, entries, a, b }} />;
}

interface Props {
  viewer: Viewer;
  entries: readonly StepEntry[];
  a: StepEntry;
  b: StepEntry;
}

function ComparedSteps({ viewer, entries, a, b }: Props) {
  const [base, next] = [useOwn(viewer), useOwn(viewer)];
  const comparison = useMemo(
    () => new Comparison(base, next, NO_REPORT, [{ name: "", base: a.range, next: b.range }]),
    [base, next, a.range.from, a.range.to, b.range.from, b.range.to],
  );
  useEffect(() => comparison.align(0), [comparison]);
  const choose = (a: string, b: string) => viewer.set({ steps: { compared: [a, b] } });
  const lengths = [a, b].map(({ range }) => range.to - range.from);
  const control = (
    <div class="steps">
      <EntrySelect label="A" entries={entries} chosen={a.key} onChoose={(key) => choose(key, b.key)} />
      <EntrySelect label="B" entries={entries} chosen={b.key} onChoose={(key) => choose(a.key, key)} />
      <button onClick={() => choose(b.key, a.key)}>Swap</button>
      <output>{duration(lengths[0]!)} → {duration(lengths[1]!)} ({signedDuration(lengths[1]! - lengths[0]!)})</output>
    </div>
  );
  const sides = [{ short: "A", long: a.name }, { short: "B", long: b.name }] as const;
  const before = { label: "A", viewer: base, range: a.range };
  const after = { label: "B", viewer: next, range: b.range };
  return (
    <article class="answer comparison">
      <h1 class="spoken">Steps side by side</h1>
      <SideBySide {...{ comparison, sides, control }} label="Timelines of both steps" status="" onClear={() => {}} />
      <section aria-label="Differences">
        <h2>Differences <small>B − A; whole events, of the step that launched them</small></h2>
        <DifferenceTables before={before} after={after} />
      </section>
    </article>
  );
}

/** A view of the recording for this page alone: the timeline keeps its window and its selection. What opens another
    page from it opens that page for the reader. */
function useOwn(viewer: Viewer): Viewer {
  const other = useMemo(() => new Viewer(viewer.recording, viewer.state.timeline.collapsed), [viewer]);
  useEffect(() => {
    other.set({ page: "steps" });
    return other.subscribe(() => {
      const { page, view, selection, range, tables, charts, kernels, highlighted } = other.state;
      if (page === "steps") return;
      other.set({ page: "steps" });
      viewer.set({ page, view, selection, range, tables, charts, kernels, highlighted });
    });
  }, [other, viewer]);
  return other;
}
