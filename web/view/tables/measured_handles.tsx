// Links from the table of kernels to the pages of those that have counters.

import { measuredKernels } from "../../model/measured_kernels.ts";
import type { Report } from "../../model/report.ts";
import type { Viewer } from "../../model/viewer.ts";

const SHOWN = 12;

export function MeasuredHandles({ viewer, report }: { viewer: Viewer; report: Report }) {
  const kernels = measuredKernels(report);
  if (kernels.length === 0) return null;
  return (
    <p class="note">
      Counters of{" "}
      {kernels.slice(0, SHOWN).map(({ row, handle, name, launch }) => (
        <span key={row}>
          <button class="handle" title={name} onClick={() => viewer.openKernel(launch)}>
            {handle}
          </button>{" "}
        </span>
      ))}
      {kernels.length > SHOWN && (
        <button class="handle" onClick={() => viewer.openKernel(null)}>
          and {kernels.length - SHOWN} more kernels
        </button>
      )}
    </p>
  );
}
