// The selected rank and step: where it ran, and how to open its recording: a link if the program that serves this page
// can open the file, else the command.

import { whyLost } from "../../model/job/job.ts";
import { prices } from "../../model/job/job_order.ts";
import { duration } from "../../layout/time_text.ts";
import { Command } from "../page/command.tsx";
import { CopyButton } from "../parts/copy_button.tsx";
import type { JobProps } from "../../model/job/job_cell.ts";
import { useAsync } from "../parts/use_state.ts";

export function CellDetails({ viewer, job, chosen }: JobProps) {
  const { rank, host, peers, status, file } = job.ranks[chosen.rank]!;
  const step = job.steps[chosen.step]!;
  const { cost, alone } = prices(job);
  const [ownCost, ownAlone] = [cost[chosen.rank]!, alone[chosen.rank]!];
  const rounded = (ns: number) => duration(Math.round(ns));
  const others = job.ranks.filter((other) => other.peers === peers).length - 1;
  const isRecorded = job.recorded[chosen.rank * job.steps.length + chosen.step] === 1;
  const facts: [string, string][] = [
    ["host", host ?? "unknown"],
    ["recording", isRecorded ? status : whyLost(job, chosen.rank, chosen.step)],
    ["peers", peers === null ? "unknown" : `${others} ranks do the same (set ${peers})`],
    ["price", ownAlone > 0 || ownCost > 0 ? `${rounded(ownCost)} per step, ${rounded(ownAlone)} alone` : "none"],
  ];
  return (
    <section class="cell-details" aria-label="Selected rank">
      <h2>Rank {rank}, step {step}</h2>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {file !== null && <OpenRank viewer={viewer} rank={rank} step={step} file={file} />}
    </section>
  );
}

type OpenRankProps = { viewer: JobProps["viewer"]; rank: number; step: number; file: string };

function OpenRank({ viewer, rank, step, file }: OpenRankProps) {
  const { value: openable } = useAsync(() => viewer.recording.openRanks(), viewer);
  if (openable === undefined) return null;
  if (openable?.has(rank))
    return (
      <p>
        <a href={`/rank/${rank}/step/${step}`} target="_blank" rel="noopener">
          Open the recording of rank {rank} at step {step}
        </a>
      </p>
    );
  const command = `gpu-profile view ${file}`;
  return (
    <p class="open-rank">
      {openable === null ? "This file holds the summary of the rank" : "The file is not there any more; where it is"}
      {openable === null ? "; " : ", "}its recording opens with{" "}
      <Command text={command} />
      <CopyButton text={() => command} label="Copy" title="Copy this command" />
    </p>
  );
}
