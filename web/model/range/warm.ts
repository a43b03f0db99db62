// Reads in advance what the answer of a range needs: the call stacks once, and the events at a time that is likely to
// be an end of a range. A read that fails is reported where its result is used.

import { BLOB, END, STACKS, START } from "../recording/lane.ts";
import type { Recording } from "../recording/recording.ts";

export function warmStacks(recording: Recording): void {
  void recording.stacks().catch(() => undefined);
}

export function warmEvents(recording: Recording, time: number): void {
  for (const lane of recording.manifest.lanes) {
    if (lane.kind === "value") continue;
    const chunk = lane.levels[0]?.chunks.find((each) => each[START] <= time && each[END] >= time);
    if (!chunk) continue;
    void recording.chunks.loadSlices(chunk[BLOB]);
    if (chunk[STACKS] !== undefined) void recording.chunks.loadPayload(chunk[STACKS]);
  }
}
