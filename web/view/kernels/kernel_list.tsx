// The kernels with counters: handle, name, limit and share of the time; then those with samples only, and their share.

import { pct } from "../../layout/cell_text.ts";
import { shortName } from "../../layout/short_name.ts";
import type { SampledKernel } from "../../model/recording/manifest.ts";
import type { MeasuredKernel } from "../../model/kernel/measured_kernels.ts";
import type { Viewer } from "../../model/page/viewer.ts";

interface Props {
  viewer: Viewer;
  kernels: readonly MeasuredKernel[];
  sampled: readonly SampledKernel[];
  shown: number; // row of the kernel
}

export function KernelList({ viewer, kernels, sampled, shown }: Props) {
  const named = ({ name, row }: { name: string; row: number }) =>
    ({ title: name, "aria-current": row === shown ? ("page" as const) : undefined });
  return (
    <nav class="list" aria-label={kernels.length > 0 ? "Kernels with counters" : "Sampled kernels"}>
      {kernels.map((kernel) => (
        <button key={kernel.row} {...named(kernel)} onClick={() => viewer.openKernel(kernel.launch)}>
          <span>{kernel.handle} {shortName(kernel.name)}</span>
          <small>{kernel.limit} <span>{pct(kernel.share_pct)}</span></small>
        </button>
      ))}
      {sampled.map((kernel) => (
        <button key={kernel.row} {...named(kernel)} onClick={() => viewer.openSampled(kernel.name)}>
          <span>{shortName(kernel.name)}</span>
          <small>samples only <span>{pct(kernel.share_pct)}</span></small>
        </button>
      ))}
    </nav>
  );
}
