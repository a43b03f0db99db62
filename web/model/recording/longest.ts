// The longest matching event of some lanes. Coarse levels keep events longer than their resolution unmerged, so the
// search starts at the coarsest level and reads the events themselves only if no matching event is that long.

import { BLOB, END, START, type SliceRef } from "./lane.ts";
import type { Lane } from "./manifest.ts";
import type { Recording } from "./recording.ts";
import type { Range } from "./range.ts";

export async function longestEvent(
  recording: Recording,
  lanes: readonly Lane[],
  isWanted: (lane: Lane, name: number) => boolean,
  within: Range,
): Promise<SliceRef | null> {
  let best: SliceRef | null = null;
  for (const lane of lanes) {
    const found = await longestOfLane(recording, lane, isWanted, within);
    if (found !== null && (best === null || lengthOf(found) > lengthOf(best))) best = found;
  }
  return best;
}

const lengthOf = ({ slices, index }: SliceRef): number => slices.end[index]! - slices.start[index]!;

async function longestOfLane(
  recording: Recording, lane: Lane, isWanted: (lane: Lane, name: number) => boolean, within: Range,
): Promise<SliceRef | null> {
  for (const level of [...lane.levels].reverse()) {
    let best: SliceRef | null = null;
    for (const chunk of level.chunks) {
      if (chunk[START] > within.to || chunk[END] < within.from) continue;
      const slices = await recording.chunks.loadSlices(chunk[BLOB]);
      for (let index = 0; slices && index < slices.length; index++) {
        if (slices.count[index] !== 1 || slices.start[index]! < within.from || slices.start[index]! > within.to)
          continue;
        const length = slices.end[index]! - slices.start[index]!;
        if (
          length < level.resolution_ns ||
          (best !== null && length <= lengthOf(best)) ||
          !isWanted(lane, slices.name[index]!)
        )
          continue;
        best = { lane, slices, index };
      }
    }
    if (best !== null) return best;
  }
  return null;
}
