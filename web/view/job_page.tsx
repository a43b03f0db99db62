// The page of a job of many ranks: the verdict, who holds the job up, what each rank did in each step, and one step as
// bars over ranks. The selected cell (a rank and a step) is shared by all of them.

import { lostRanks, type Job } from "../model/job/job.ts";
import { plural } from "../layout/time_text.ts";
import type { JobProps } from "../model/job/job_cell.ts";
import type { Viewer } from "../model/page/viewer.ts";
import { DataQuality } from "./page/data_quality.tsx";
import { CellDetails } from "./job/cell_details.tsx";
import { HeatMapView } from "./job/heat_map_view.tsx";
import { LinksView } from "./job/links_view.tsx";
import { Stragglers } from "./job/stragglers.tsx";
import { WaterfallView } from "./job/waterfall_view.tsx";
import { NextSteps } from "./overview/next_steps.tsx";
import { VerdictBox } from "./overview/verdict_box.tsx";
import { useAsync, useViewerState } from "./parts/use_state.ts";

export function JobPage({ viewer }: { viewer: Viewer }) {
  const { recording } = viewer;
  const { value, error } = useAsync(() => Promise.all([recording.job(), recording.report()]), viewer);
  const rank = useViewerState(viewer, (state) => state.job.rank);
  const step = useViewerState(viewer, (state) => state.job.step);
  if (error !== undefined) return <p class="notice">Cannot read the job: {error}</p>;
  if (value === undefined) return <p class="notice">Reading the job…</p>;
  const [job, report] = value;
  if (job.ranks.length === 0 || job.steps.length === 0)
    return <p class="notice">No steps were found in the recordings of this job; the tables have what was.</p>;
  const props: JobProps = { viewer, job, chosen: chosenCell(viewer, job, rank, step) };
  return (
    <article class="answer job-page">
      <DataQuality lines={report.trust} />
      <LostRanks job={job} />
      {report.verdict && <VerdictBox viewer={viewer} report={report} verdict={report.verdict} />}
      <div class="job-columns">
        <div class="job-side">
          <Stragglers {...props} reason={report.verdict?.because ?? ""} />
          <CellDetails {...props} />
        </div>
        <div class="job-pictures">
          <HeatMapView {...props} />
          <WaterfallView {...props} />
          <LinksView {...props} report={report} />
        </div>
      </div>
      <NextSteps report={report} />
    </article>
  );
}

/** The selected cell; at first the worst of the first straggler, else the first rank in the longest step. */
function chosenCell(viewer: Viewer, job: Job, rank: number | null, step: number | null): JobProps["chosen"] {
  const longest = [...(viewer.recording.manifest.job?.steps.keys() ?? [])][0] ?? 0;
  const worst = job.units.find((unit) => unit.worst !== null)?.worst ?? [0, longest];
  const index = (found: number, otherwise: number) => (found < 0 ? otherwise : found);
  return {
    rank: rank === null ? worst[0] : index(job.ranks.findIndex((each) => each.rank === rank), worst[0]),
    step: step === null ? worst[1] : index(job.steps.indexOf(step), worst[1]),
  };
}

const MOST_NAMED = 12;

function LostRanks({ job }: { job: Job }) {
  const lost = [...lostRanks(job)];
  if (lost.length === 0 && job.namelessFiles === 0) return null;
  const present = job.ranks.filter(({ status }) => status === "whole" || status === "cut").length;
  return (
    <ul class="lost" aria-label="Lost recordings">
      <li>{present} of {plural(job.ranks.length, "rank")} have a recording</li>
      {lost.map(([status, ranks]) => (
        <li key={status} title={ranks[0]!.reason ?? undefined}>
          {ranks.length} {status}: {ranks.slice(0, MOST_NAMED).map(({ rank }) => rank).join(", ")}
          {ranks.length > MOST_NAMED && " …"}
        </li>
      ))}
      {job.namelessFiles > 0 && <li>{plural(job.namelessFiles, "file")} without a rank: see the table ranks</li>}
    </ul>
  );
}
