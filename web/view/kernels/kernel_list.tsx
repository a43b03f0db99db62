// The kernels with counters: handle, name, limit and share of the time.

import { pct } from "../../layout/cell_text.ts";
import { shortName } from "../../layout/short_name.ts";
import type { MeasuredKernel } from "../../model/measured_kernels.ts";
import type { Viewer } from "../../model/viewer.ts";

export function KernelList({ viewer, kernels, shown }: { viewer: Viewer; kernels: readonly MeasuredKernel[]; shown: MeasuredKernel }) {
  return (
    <nav class="list" aria-label="Kernels with counters">
      {kernels.map((kernel) => (
        <button key={kernel.row} title={kernel.name} aria-current={kernel === shown ? "page" : undefined} onClick={() => viewer.openKernel(kernel.launch)}>
          <span>
            {kernel.handle} {shortName(kernel.name)}
          </span>
          <small>
            {kernel.limit} <span>{pct(kernel.share_pct)}</span>
          </small>
        </button>
      ))}
    </nav>
  );
}
