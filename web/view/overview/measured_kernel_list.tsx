// Kernels with counters, most time first, each with the sentence that says what holds it back.

import { pct } from "../../layout/cell_text.ts";
import { duration, exact, grouped, plural } from "../../layout/time_text.ts";
import type { MeasuredKernel } from "../../model/kernel/measured_kernels.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { shapeAmong } from "../kernels/kernel_list.tsx";
import { NameText } from "../parts/name_text.tsx";

const SHOWN = 6;

const timeText = ({ total_ns, launches }: MeasuredKernel): string =>
  `${exact(total_ns)} in ${plural(launches, "launch")}`;

export function MeasuredKernels({ viewer, kernels }: { viewer: Viewer; kernels: readonly MeasuredKernel[] }) {
  if (kernels.length === 0) return null;
  return (
    <section class="measured" aria-label="Kernels with counters">
      <h2>Kernels with counters <small>share of their time</small></h2>
      <ul>
        {kernels.slice(0, SHOWN).map((kernel) => (
          <li key={kernel.row}>
            <button
              title={`${kernel.name}\n${timeText(kernel)}; click to show its counters`}
              onClick={() => viewer.openKernel(kernel.launch)}
            >
              <span class="title">
                <span class="quiet">{kernel.handle}</span> <NameText name={kernel.name} />{" "}
                {shapeAmong(kernels, kernel)}
              </span>
              <span class="amount">{duration(kernel.total_ns)}</span>
              <span class="amount">{pct(kernel.share_pct)}</span>
              <span class="sentence">{kernel.because}</span>
            </button>
          </li>
        ))}
      </ul>
      {kernels.length > SHOWN && (
        <button class="handle" onClick={() => viewer.openKernel(null)}>
          Show all {grouped(kernels.length)} kernels with counters
        </button>
      )}
    </section>
  );
}
