// The kernels page: the kernels with counters, most time first, and those with samples of instructions only, next to
// the page of the chosen one.

import { measuredKernels } from "../model/kernel/measured_kernels.ts";
import type { Viewer } from "../model/page/viewer.ts";
import { KernelList } from "./kernels/kernel_list.tsx";
import { KernelPage } from "./kernels/kernel_page.tsx";
import { SampledPage } from "./kernels/sampled_page.tsx";
import { useAsync, useViewerState } from "./parts/use_state.ts";

export function Kernels({ viewer }: { viewer: Viewer }) {
  const { value: report, error } = useAsync(() => viewer.recording.report(), viewer);
  const launch = useViewerState(viewer, (state) => state.kernels.launch);
  const name = useViewerState(viewer, (state) => state.kernels.sampled);
  if (error !== undefined) return <p class="notice">Cannot read the report: {error}</p>;
  if (report === undefined) return <p class="notice">Reading the report…</p>;
  const kernels = measuredKernels(report);
  const sampled = viewer.recording.manifest.sampled.filter(({ row }) => row >= kernels.length);
  const onlySampled = sampled.find((kernel) => kernel.name === name) ?? (kernels.length === 0 ? sampled[0] : undefined);
  const shown = kernels.find((kernel) => kernel.launch === launch) ?? kernels[0];
  if (onlySampled === undefined && shown === undefined)
    return <p class="notice">No counters of kernels were recorded.</p>;
  return (
    <>
      <KernelList viewer={viewer} kernels={kernels} sampled={sampled} shown={(onlySampled ?? shown)!.row} />
      {onlySampled !== undefined ? (
        <SampledPage key={onlySampled.row} viewer={viewer} kernel={onlySampled} />
      ) : (
        <KernelPage key={shown!.row} viewer={viewer} report={report} kernel={shown!} />
      )}
    </>
  );
}
