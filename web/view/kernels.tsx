// The kernels page: the kernels with counters, most time first, next to the page of the chosen one.

import { measuredKernels } from "../model/measured_kernels.ts";
import type { Viewer } from "../model/viewer.ts";
import { KernelList } from "./kernels/kernel_list.tsx";
import { KernelPage } from "./kernels/kernel_page.tsx";
import { useAsync, useViewerState } from "./use_state.ts";

export function Kernels({ viewer }: { viewer: Viewer }) {
  const { value: report, error } = useAsync(() => viewer.recording.report(), viewer);
  const launch = useViewerState(viewer, (state) => state.launch);
  if (error !== undefined) return <p class="notice">Cannot read the report: {error}</p>;
  if (report === undefined) return <p class="notice">Reading the report…</p>;
  const kernels = measuredKernels(report);
  const shown = kernels.find((kernel) => kernel.launch === launch) ?? kernels[0];
  if (shown === undefined) return <p class="notice">No counters of kernels were recorded.</p>;
  return (
    <>
      <KernelList viewer={viewer} kernels={kernels} shown={shown} />
      <KernelPage key={shown.row} viewer={viewer} report={report} kernel={shown} />
    </>
  );
}
