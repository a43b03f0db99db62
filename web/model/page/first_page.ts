// The page on which a recording opens: the one that holds what was recorded.

import type { Manifest } from "../recording/manifest.ts";
import type { PageName } from "./state.ts";

export function firstPage({ job, lanes, kernels, sampled }: Manifest): PageName {
  if (job !== null) return "job";
  return lanes.length === 0 && kernels.length + sampled.length > 0 ? "kernels" : "overview";
}
