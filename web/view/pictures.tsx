// The pictures page.

import type { Viewer } from "../model/viewer.ts";

export function Pictures(_: { viewer: Viewer }) {
  return <p class="notice">Pictures are not shown yet.</p>;
}
