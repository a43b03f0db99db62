// The tables page: every analysis of the report.

import type { Viewer } from "../model/viewer.ts";

export function Tables(_: { viewer: Viewer }) {
  return <p class="notice">Tables are not shown yet.</p>;
}
