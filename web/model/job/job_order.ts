// The orders in which ranks can be listed. Ranks that are equal in an order stay in that of their numbers.

import type { Job } from "./job.ts";

export const ROW_ORDERS = ["rank", "host", "peers", "price"] as const;
export type RowOrder = (typeof ROW_ORDERS)[number];

/** The largest price of a unit that a rank belongs to, in ns per step; 0 for none. */
export function prices(job: Job): { cost: Float64Array; alone: Float64Array } {
  const cost = new Float64Array(job.ranks.length);
  const alone = new Float64Array(job.ranks.length);
  for (const unit of job.units)
    for (const rank of unit.ranks) {
      cost[rank] = Math.max(cost[rank]!, unit.cost);
      alone[rank] = Math.max(alone[rank]!, unit.alone);
    }
  return { cost, alone };
}

/** Indices of all ranks, in display order. */
export function rowsBy(job: Job, order: RowOrder): Uint32Array {
  const rows = Uint32Array.from(job.ranks, (_, i) => i);
  if (order === "rank") return rows;
  const key = keysOf(job, order);
  return rows.sort((a, b) => key[a]! - key[b]! || a - b);
}

function keysOf(job: Job, order: RowOrder): Float64Array {
  if (order === "peers") return Float64Array.from(job.ranks, ({ peers }) => peers ?? Infinity);
  if (order === "price") {
    const { cost, alone } = prices(job);
    const most = job.units.reduce((found, unit) => Math.max(found, unit.alone), 1);
    return cost.map((ns, rank) => -(ns + (0.5 * alone[rank]!) / most)); // alone decides between equal costs
  }
  const places = new Map<string | null, number>();
  for (const { host } of job.ranks) if (!places.has(host)) places.set(host, places.size);
  return Float64Array.from(job.ranks, ({ host }) => places.get(host)!);
}

/** The name of the part of the list that a rank belongs to; null if the order has no parts. */
export function sectionOf(job: Job, order: RowOrder, rank: number): string | null {
  if (order === "host") return job.ranks[rank]!.host ?? "host unknown";
  if (order === "peers") return job.ranks[rank]!.peers === null ? "no peers" : `peers ${job.ranks[rank]!.peers}`;
  return null;
}
