// BASE above NEW, aligned at a chosen step, or each at its own.

import { duration, signedDuration } from "../../layout/time_text.ts";
import type { Comparison } from "../../model/page/comparison.ts";
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
  return <SideBySide comparison={comparison} label="Timelines of both recordings" sides={sides} control={<Steps comparison={comparison} />} status={status} onClear={onClear} />;
}

/** Chooses the step that both timelines are aligned at, or one for each side, and shows its duration in each. */
function Steps({ comparison }: { comparison: Comparison }) {
  const { base, next, pairs, steps } = comparison;
  const chosen = useViewerState(next, (state) => Math.min(state.aligned, pairs.length - 1));
  const own = [useViewerState(base, (state) => state.ownStep), useViewerState(next, (state) => state.ownStep)];
  const pair = comparison.pair;
  const [before, after] = [pair.base.to - pair.base.from, pair.next.to - pair.next.from];
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
      {pair.name !== "" && (
        <>
          or <EntrySelect label="BASE" entries={steps.base} chosen={own[0] ?? null} onChoose={(key) => comparison.choose(base, key)} />
          <EntrySelect label="NEW" entries={steps.next} chosen={own[1] ?? null} onChoose={(key) => comparison.choose(next, key)} />
        </>
      )}
      <output>
        {duration(before)} → {duration(after)} ({signedDuration(after - before)})
      </output>
    </div>
  );
}
