// Which part of the heat map is shown, in words, and buttons that change it.

import { grouped, plural } from "../../layout/time_text.ts";
import type { HeatWindow } from "../../model/job/heat_window.ts";
import type { Job } from "../../model/job/job.ts";
import type { RowOrder } from "../../model/job/job_order.ts";

interface Props {
  job: Job;
  window: HeatWindow;
  whole: HeatWindow;
  order: RowOrder;
  onZoom: (factor: number) => void;
  onWhole: () => void;
}

export function HeatZoom({ job, window: { ranks, steps }, whole, order, onZoom, onWhole }: Props) {
  const [rankCount, stepCount] = [ranks.to - ranks.from, steps.to - steps.from];
  const isWhole = rankCount === whole.ranks.to && stepCount === whole.steps.to;
  const [first, last] = [job.steps[steps.from]!, job.steps[steps.to - 1]!];
  const place = order === "rank" ? "" : `, places ${grouped(ranks.from + 1)} to ${grouped(ranks.to)} in this order`;
  const all = plural(whole.ranks.to, "rank");
  const part = `${grouped(rankCount)} of ${all}${place}`;
  return (
    <div class="tools-line" role="group" aria-label="Part of the heat map">
      <button onClick={() => onZoom(0.5)} title="+ or W, or Ctrl + wheel">Zoom in</button>
      <button onClick={() => onZoom(2)} disabled={isWhole} title="- or S, or Ctrl + wheel">Zoom out</button>
      <button onClick={onWhole} disabled={isWhole} title="0">Show all</button>
      <span role="status">
        {isWhole ? `${all}, ${plural(whole.steps.to, "step")}` : `${part}; steps ${first} to ${last}`}
      </span>
    </div>
  );
}
