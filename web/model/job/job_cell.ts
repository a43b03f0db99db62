// The selected cell of a job, a rank in a step, which every part of its page shows, and the part of the heat map that
// is shown around it.

import { heatIn, heatWith, partOf, wholeHeat, type HeatWindow } from "./heat_window.ts";
import type { Job } from "./job.ts";
import { rowsBy, type RowOrder } from "./job_order.ts";
import type { Viewer } from "../page/viewer.ts";

/** What every part of the page needs. */
export interface JobProps {
  viewer: Viewer;
  job: Job;
  chosen: { rank: number; step: number }; // indices
}

/** Selects a cell by the indices of its rank and its step, shows this quantity if given, and moves the heat map to the
    cell where it is zoomed in. */
export function selectCell(viewer: Viewer, job: Job, rank: number, step: number, shown?: string): void {
  const { heat, order, quantity } = viewer.state.job;
  const whole = wholeHeat(job.ranks.length, job.steps.length);
  const moved =
    heat && partOf(heatWith(heatIn(heat, whole), whole, { place: rowsBy(job, order).indexOf(rank), step }), whole);
  const cell = { rank: job.ranks[rank]!.rank, step: job.steps[step]!, quantity: shown ?? quantity };
  viewer.set({ job: { ...cell, heat: moved } });
}

/** Shows a part of the heat map: as a step of the history, unless it is one of many small moves. */
export function showHeat(viewer: Viewer, whole: HeatWindow, window: HeatWindow, isStep: boolean): void {
  const { jumps } = viewer.state;
  viewer.set({ job: { heat: partOf(window, whole) }, ...(isStep ? { jumps: jumps + 1 } : {}) });
}

/** Lists the ranks in another order. The shown steps stay; ranks that were side by side no longer are. */
export function orderRanks(viewer: Viewer, job: Job, order: RowOrder): void {
  const { heat } = viewer.state.job;
  const whole = wholeHeat(job.ranks.length, job.steps.length);
  viewer.set({ job: { order, heat: heat && partOf({ ...heat, ranks: whole.ranks }, whole) } });
}
