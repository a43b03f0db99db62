// BASE above NEW, aligned at a chosen step, or each at its own.

import { duration, signedDuration } from "../../layout/time_text.ts";
import type { Comparison } from "../../model/page/comparison.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { sourceName } from "../../model/recording/source_name.ts";
import { EntrySelect } from "../steps/entry_select.tsx";
import { SideBySide } from "../steps/side_by_side.tsx";
import { useViewerState } from "../parts/use_state.ts";

interface Props {
  comparison: Comparison;
  status: string; // result of the last search for a row
  onClear: () => void;
}

export function Timelines({ comparison, status, onClear }: Props) {
  const { base, next } = comparison;
  const sides = [
    { short: "BASE", long: sourceName(base.recording.manifest) },
    { short: "NEW", long: sourceName(next.recording.manifest) },
  ] as const;
  const steps = <Steps comparison={comparison} />;
  const label = "Timelines of both recordings";
  return <SideBySide {...{ comparison, label, sides, status, onClear }} control={steps} />;
}

/** Chooses the step that both timelines are aligned at, or one for each side, and shows its duration in each. */
function Steps({ comparison }: { comparison: Comparison }) {
  const { base, next, pairs, steps } = comparison;
  const chosen = useViewerState(next, (state) => Math.min(state.comparison.aligned, pairs.length - 1));
  const own = [base, next].map((side) => useViewerState(side, (state) => state.comparison.ownStep));
  const pair = comparison.pair;
  const [before, after] = [pair.base.to - pair.base.from, pair.next.to - pair.next.from];
  const label = pair.name === "" ? "Aligned at the first device work: the recordings have no steps in common" : "";
  const last = pairs.length - 1;
  const named = (name: string) => ({ "aria-label": name, title: name });
  const chooseFor = (viewer: Viewer) => (key: string) => comparison.choose(viewer, key);
  return (
    <div class="steps">
      {label}
      {pair.name !== "" && (
        <>
          <button onClick={() => comparison.align(chosen - 1)} disabled={chosen === 0} {...named("Previous step")}>
            ‹
          </button>
          <label>
            Aligned at{" "}
            <select value={chosen} onChange={(event) => comparison.align(Number(event.currentTarget.value))}>
              {pairs.map(({ name }, i) => (
                <option key={i} value={i}>{name}</option>
              ))}
            </select>
          </label>
          <button onClick={() => comparison.align(chosen + 1)} disabled={chosen === last} {...named("Next step")}>
            ›
          </button>
          or{" "}
          <EntrySelect label="BASE" entries={steps.base} chosen={own[0] ?? null} onChoose={chooseFor(base)} />
          <EntrySelect label="NEW" entries={steps.next} chosen={own[1] ?? null} onChoose={chooseFor(next)} />
        </>
      )}
      <output>{duration(before)} → {duration(after)} ({signedDuration(after - before)})</output>
    </div>
  );
}
