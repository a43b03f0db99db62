// The timeline page.

import type { Viewer } from "../model/viewer.ts";

export function Timeline({ viewer }: { viewer: Viewer }) {
  return <p class="notice">{viewer.recording.manifest.lanes.length} lanes.</p>;
}
