// The occupancy of one launch, from its counters: warps that fit on a multiprocessor and warps that were there, of all
// slots for warps, and the blocks that each resource leaves room for.

import { sumOf, type Counters } from "./counters.ts";

export interface BlockLimit {
  resource: string;
  blocks: number; // per multiprocessor
}

export interface Occupancy {
  theoretical_pct: number | null;
  achieved_pct: number | null;
  limits: BlockLimit[]; // lowest first; those that are the lowest decide
  registers: number | null; // per thread
  shared_bytes: number | null; // per block
  waves: number | null; // of blocks that fit at once
}

const RESOURCES: readonly [counter: string, resource: string][] = [
  ["warps", "warp slots"],
  ["registers", "registers"],
  ["shared_mem", "shared memory"],
  ["barriers", "barriers"],
  ["blocks", "block slots"],
];

export function occupancyOf(counters: Counters): Occupancy {
  const get = (name: string) => counters.get(name) ?? null;
  return {
    theoretical_pct: get("sm__maximum_warps_per_active_cycle_pct"),
    achieved_pct: get("sm__warps_active.avg.pct_of_peak_sustained_active"),
    limits: RESOURCES.flatMap(([counter, resource]) => {
      const blocks = get(`launch__occupancy_limit_${counter}`);
      return blocks === null ? [] : [{ resource, blocks }];
    }).sort((a, b) => a.blocks - b.blocks),
    registers: get("launch__registers_per_thread"),
    shared_bytes: sumOf(counters, "launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic"),
    waves: get("launch__waves_per_multiprocessor"),
  };
}
