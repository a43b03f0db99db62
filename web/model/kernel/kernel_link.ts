// The page about the kernel of an event of the timeline: its counters, or its source lines if it has samples only.

import { measuredKernels } from "./measured_kernels.ts";
import type { Recording } from "../recording/recording.ts";
import { sourceLinesOf, type SourceLine } from "./source_lines.ts";
import type { Viewer } from "../page/viewer.ts";

export interface KernelLink {
  measured: boolean; // whether it has counters
  hottest: SourceLine | null; // with the most samples; null: no line is known
  open: (viewer: Viewer) => void;
}

/** null if nothing was measured of a kernel of this name. */
export async function kernelLinkOf(recording: Recording, name: string): Promise<KernelLink | null> {
  if (recording.manifest.kernels.length === 0) return null;
  const kernel = measuredKernels(await recording.report()).find((each) => each.name === name);
  const sampled = recording.manifest.sampled.find(({ timeline }) => timeline === name);
  const row = kernel?.row ?? sampled?.row;
  if (row === undefined) return null;
  const tables = await recording.kernel(row);
  const lines = sourceLinesOf(tables.find((table) => table.name === "source") ?? null, null);
  return {
    measured: kernel !== undefined,
    hottest: lines.find(({ line, samples }) => line !== null && samples !== null && samples > 0) ?? null,
    open: (viewer) => (kernel !== undefined ? viewer.openKernel(kernel.launch) : viewer.openSampled(sampled!.name)),
  };
}
