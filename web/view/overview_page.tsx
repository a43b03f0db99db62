// The first page, from the first answer of the report: trust, verdict, when the devices were busy, why they were idle,
// what cost most, what to do about it, and what changes would give.

import { measuredKernels } from "../model/kernel/measured_kernels.ts";
import { tableOf, type BusyShares, type Report } from "../model/recording/report.ts";
import type { Viewer } from "../model/page/viewer.ts";
import { Memory } from "./charts/memory.tsx";
import { MemoryBlocks } from "./charts/block_chart.tsx";
import { BusyStrips } from "./overview/busy_strips.tsx";
import { Findings } from "./overview/findings.tsx";
import { IdleCauses } from "./overview/idle_causes.tsx";
import { MeasuredKernels } from "./overview/measured_kernel_list.tsx";
import { MemoryGrowth } from "./overview/memory_growth.tsx";
import { MemoryHolders } from "./overview/memory_holders.tsx";
import { NextSteps } from "./overview/next_steps.tsx";
import { PredictedChanges } from "./overview/predicted_changes.tsx";
import { RecordedData } from "./overview/recorded_data.tsx";
import { TopKernels } from "./overview/top_kernels.tsx";
import { VerdictBox } from "./overview/verdict_box.tsx";
import { AnswerSoFar } from "./page/preparing.tsx";
import { ReportedPart } from "./page/reported_part.tsx";
import { DataQuality } from "./page/data_quality.tsx";
import { useAsync } from "./parts/use_state.ts";

function ranOnDevices(report: Report): boolean {
  return (tableOf(report, "devices")?.rows.length ?? 0) > 0;
}

/** An allocator's records without device work: what counts is the curve, and who holds the memory. */
function isMemorySnapshot(report: Report): boolean {
  return !ranOnDevices(report) && (tableOf(report, "memory")?.rows.length ?? 0) > 0;
}

/** The report, and busy time if it can be read. Waits for both, so that nothing moves under the pointer later. */
function answerOf({ recording }: Viewer): Promise<[Report, BusyShares | null]> {
  return Promise.all([recording.report(), recording.busyShares().catch(() => null)]);
}

export function Overview({ viewer }: { viewer: Viewer }) {
  const { value, error } = useAsync(() => answerOf(viewer), viewer);
  if (error !== undefined) return <p class="notice">Cannot read the report: {error}</p>;
  if (value === undefined) return <AnswerSoFar viewer={viewer} />;
  const [report, busy] = value;
  const page = { viewer, report };
  const kernels = measuredKernels(report);
  const measured = <MeasuredKernels viewer={viewer} kernels={kernels} />;
  const holdsMemory = isMemorySnapshot(report);
  const hasBlocks = (tableOf(report, "memory_trace")?.rows.length ?? 0) > 0;
  const isTimed = viewer.recording.manifest.lanes.length > 0;
  return (
    <article class="answer">
      <DataQuality lines={report.trust} />
      <ReportedPart viewer={viewer} command />
      {report.verdict && !holdsMemory && <VerdictBox {...page} verdict={report.verdict} />}
      {!report.verdict && !holdsMemory && <h1 class="spoken">Overview</h1>}
      {holdsMemory && <MemoryGrowth {...page} />}
      {holdsMemory && <MemoryBlocks {...page} />}
      {holdsMemory && !hasBlocks && <Memory {...page} />}
      {holdsMemory && !hasBlocks && <MemoryHolders viewer={viewer} table={tableOf(report, "allocations")} />}
      {!ranOnDevices(report) && kernels.length === 0 && <RecordedData {...page} />}
      {!isTimed && measured}
      <BusyStrips {...page} measured={busy} />
      <div class="columns">
        <Findings {...page} />
        <div>
          <IdleCauses {...page} table={tableOf(report, "idle")} />
          <TopKernels {...page} table={tableOf(report, "kernels")} />
          <NextSteps {...page} />
        </div>
      </div>
      {isTimed && measured}
      {!holdsMemory && <PredictedChanges viewer={viewer} table={tableOf(report, "whatif")} />}
    </article>
  );
}
