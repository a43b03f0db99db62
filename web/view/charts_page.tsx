// The charts page. Each chart is a component that draws, or states in one sentence why it cannot.

import type { Viewer } from "../model/page/viewer.ts";
import { ReportedPart } from "./page/reported_part.tsx";
import { Durations } from "./charts/durations.tsx";
import { FlameGraph } from "./charts/flame_graph.tsx";
import { KernelShare } from "./charts/kernel_share.tsx";
import { Memory } from "./charts/memory.tsx";
import { MemoryBlocks } from "./charts/block_chart.tsx";
import { MemoryOwners } from "./charts/memory_owners.tsx";
import { Overlap } from "./charts/overlap.tsx";
import { Roofline } from "./charts/roofline_chart.tsx";
import { Steps } from "./charts/step_chart.tsx";
import { useAsync } from "./parts/use_state.ts";

export function Charts({ viewer }: { viewer: Viewer }) {
  const { value: report, error } = useAsync(() => viewer.recording.report(), viewer);
  if (error !== undefined) return <p class="notice">Cannot read the report: {error}</p>;
  if (report === undefined) return <p class="notice">Reading the report…</p>;
  const page = { viewer, report };
  return (
    <article class="chart-list">
      <h1 class="spoken">Charts</h1>
      <ReportedPart viewer={viewer} />
      <KernelShare {...page} />
      <Durations {...page} />
      <FlameGraph {...page} />
      <Steps {...page} />
      <Memory {...page} />
      <MemoryBlocks {...page} />
      <MemoryOwners {...page} />
      <Roofline {...page} />
      <Overlap {...page} />
    </article>
  );
}
