// The list of kept ranges: each leads to its range, has a note, and can be removed.

import { duration } from "../../layout/time_text.ts";
import { withNote, withoutRange, type KeptRanges } from "../../model/range/kept_ranges.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { useViewerState } from "../parts/use_state.ts";

export function KeptRangeList({ viewer }: { viewer: Viewer }) {
  const kept = useViewerState(viewer, (state) => state.kept);
  const set = (kept: KeptRanges) => viewer.set({ kept });
  const remove = (number: number) => () => set(withoutRange(kept, number));
  if (kept.length === 0) return null;
  return (
    <section aria-label="Kept ranges">
      <h2>Kept ranges</h2>
      <ul class="kept">
        {kept.map(({ number, from, to, note }) => (
          <li key={number}>
            <button title="Show and measure this range" onClick={() => viewer.goTo({ from, to }, true)}>
              {number} · {duration(to - from)}
            </button>
            <input
              value={note} placeholder="Note" aria-label={`Note of range ${number}`}
              onInput={(event) => set(withNote(kept, number, event.currentTarget.value))}
            />
            <button aria-label={`Remove range ${number}`} title="Remove" onClick={remove(number)}>
              ✕
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
