// The colour of each stall reason, the same in every picture: the frequent reasons differ from each other. A warp that
// issued its instruction is no stall and has no colour.

import { DIMMED, FIRST_HUE, HUES, hueOf } from "./colors.ts";

export const ISSUED = "selected";

const FREQUENT = [
  "long_scoreboard", "barrier", "wait", "math_pipe_throttle", "lg_throttle", "short_scoreboard", "mio_throttle",
  "not_selected", "no_instruction", "gmma", "membar", "branch_resolving", "drain", "dispatch_stall",
];

export function stallCode(reason: string): number {
  if (reason === ISSUED) return DIMMED;
  const at = FREQUENT.indexOf(reason);
  return at < 0 ? hueOf(reason) : FIRST_HUE + ((at * 5) % HUES);
}
