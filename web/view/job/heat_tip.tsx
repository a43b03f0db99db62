// A cell of the heat map in words, and the tip that says them at the pointer.

import { quantityText } from "../../layout/heat_scale.ts";
import { duration } from "../../layout/time_text.ts";
import { whyLost, type Job, type Quantity } from "../../model/job/job.ts";

/** Rank, place, step and value of a cell; why it has none if it is lost. */
export function cellText(job: Job, quantity: Quantity, cells: Float64Array, rank: number, step: number): string[] {
  const { rank: number, host } = job.ranks[rank]!;
  const value = cells[rank * job.steps.length + step]!;
  const said = Number.isNaN(value) ? whyLost(job, rank, step) : quantityText(value, quantity);
  const place = `rank ${number}${host === null ? "" : ` on ${host}`}`;
  const time = `step ${job.steps[step]} (${duration(job.longest[step]!)})`;
  return [place, time, `${quantity.title.toLowerCase()}: ${said}`];
}

export function CellTip({ lines, x, y, width }: { lines: string[]; x: number; y: number; width: number }) {
  const side = x > width / 2 ? { right: `${width - x + 14}px` } : { left: `${x + 14}px` };
  return (
    <div class="tooltip" style={{ ...side, top: `${y + 14}px` }}>
      <strong>{lines[0]}</strong>
      {lines.slice(1).map((line) => (
        <span key={line}>{line}</span>
      ))}
    </div>
  );
}
