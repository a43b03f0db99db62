// The kernels with counters: handle, name, limit and share of the time; then those with samples only, and their share.

import { pct } from "../../layout/cell_text.ts";
import { grouped } from "../../layout/time_text.ts";
import type { SampledKernel } from "../../model/recording/manifest.ts";
import type { MeasuredKernel } from "../../model/kernel/measured_kernels.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { NameText } from "../parts/name_text.tsx";

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
          <span class="title">{kernel.handle} <NameText name={kernel.name} /></span>
          <small>{kernel.limit} {shapeAmong(kernels, kernel)} <span>{pct(kernel.share_pct)}</span></small>
        </button>
      ))}
      {sampled.map((kernel) => (
        <button key={kernel.row} {...named(kernel)} onClick={() => viewer.openSampled(kernel.name)}>
          <NameText name={kernel.name} />
          <small>samples only <span>{pct(kernel.share_pct)}</span></small>
        </button>
      ))}
    </nav>
  );
}

/** The shape of the launches of a kernel, "132 × 384", if another one of the list has its name; "" otherwise. */
export function shapeAmong(kernels: readonly MeasuredKernel[], { row, name, blocks, threads }: MeasuredKernel): string {
  const isAlone = !kernels.some((other) => other.row !== row && other.name === name);
  return isAlone || blocks === null || threads === null ? "" : `${grouped(blocks)} × ${grouped(threads)}`;
}
