// The page of a kernel that has samples of instructions, but no counters of its launches: its source lines.

import { pct } from "../../layout/cell_text.ts";
import { shortName } from "../../layout/short_name.ts";
import { plural } from "../../layout/time_text.ts";
import type { SampledKernel } from "../../model/recording/manifest.ts";
import { showName } from "../../model/table/row_navigation.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { useAsync } from "../parts/use_state.ts";
import { SourceLines } from "./source_lines_view.tsx";

export function SampledPage({ viewer, kernel }: { viewer: Viewer; kernel: SampledKernel }) {
  const { recording } = viewer;
  const { value: tables, error } = useAsync(() => recording.kernel(kernel.row), kernel.row);
  const table = (name: string) => tables?.find((each) => each.name === name) ?? null;
  const { timeline } = kernel;
  return (
    <article class="kernel" tabIndex={0} aria-label={`Kernel ${shortName(kernel.name)}`}>
      <header>
        <h1>{shortName(kernel.name)}</h1>
        <p class="full">{kernel.name}</p>
        <p class="quiet">
          {plural(kernel.samples, "sample")}, {pct(kernel.share_pct)} of all samples · counters of its launches were not
          collected
          {timeline !== null && (
            <>
              {" "}
              <button onClick={() => void showName(viewer, ["kernel"], timeline)}>Show on the timeline</button>
            </>
          )}
        </p>
      </header>
      {error !== undefined && <p class="notice">Cannot read the samples: {error}</p>}
      {error === undefined && tables === undefined && <p class="notice">Reading the samples…</p>}
      {tables !== undefined && (
        <SourceLines viewer={viewer} kernel={kernel.name} source={table("source")} stalls={table("line_stalls")} />
      )}
    </article>
  );
}
