// The traffic of one launch between registers, caches and device memory, from its counters. Nothing that was not
// collected is computed from its neighbours: such a link is absent.

import { sumOf, type Counters } from "./counters.ts";

export const SECTOR = 32; // bytes

export type UnitName = "L1" | "L2" | "DRAM";

/** A cache or memory. Shares are of its peak, or of the requests. null: not collected. */
export interface MemoryUnit {
  busy_pct: number | null;
  hit_pct: number | null;
  bytes_per_s: number | null;
}

/** Traffic in one direction. Amounts that were not collected are null, never 0. */
export interface Traffic {
  bytes: number | null;
  count: number | null; // of requests or, for shared memory, of passes
}

export interface MemoryChart {
  loads: Traffic | null; // global memory, L1 to registers
  stores: Traffic | null; // global memory, registers to L1
  local: Traffic | null; // local memory, both ways
  atomics: Traffic | null;
  shared: Traffic | null;
  conflicts: number | null; // passes of shared memory added by bank conflicts
  shared_bytes: number | null; // per block
  requested: Traffic | null; // from L2, both ways
  read: Traffic | null; // from device memory
  written: Traffic | null;
  units: Record<UnitName, MemoryUnit>;
}

const L1 = "l1tex__t_";
const ops = (what: "sectors" | "requests", space: string, op: string) =>
  `${L1}${what}_pipe_lsu_mem_${space}_op_${op}.sum`;

function traffic(bytes: number | null, count: number | null): Traffic | null {
  return bytes === null && count === null ? null : { bytes, count };
}

const inBytes = (sectors: number | null): number | null => (sectors === null ? null : sectors * SECTOR);

export function memoryChartOf(counters: Counters): MemoryChart {
  const get = (name: string) => counters.get(name) ?? null;
  const sum = (...names: string[]) => sumOf(counters, ...names);
  const global = (op: string) =>
    traffic(inBytes(get(ops("sectors", "global", op))), get(ops("requests", "global", op)));
  const unit = (busy: string, hits: string | null, rate: string): MemoryUnit => ({
    busy_pct: get(busy),
    hit_pct: hits === null ? null : get(hits),
    bytes_per_s: get(rate),
  });
  const l1 = unit(
    "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "l1tex__t_sector_hit_rate.pct",
    "derived__l1tex__lsu_writeback_bytes_mem_lgds.sum.per_second",
  );
  const l2 = unit(
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__t_sector_hit_rate.pct",
    "derived__lts__lts2xbar_bytes.sum.per_second",
  );
  const dram = unit("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", null, "dram__bytes.sum.per_second");
  return {
    loads: global("ld"),
    stores: global("st"),
    local: traffic(inBytes(sum(ops("sectors", "local", "ld"), ops("sectors", "local", "st"))), null),
    atomics: traffic(null, sum(ops("requests", "global", "atom"), ops("requests", "global", "red"))),
    shared: traffic(null, get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")),
    conflicts: get("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
    shared_bytes: sum("launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic"),
    requested: traffic(inBytes(get("lts__t_sectors.sum")), null),
    read: traffic(get("dram__bytes_read.sum"), null),
    written: traffic(get("dram__bytes_write.sum"), null),
    units: { L1: l1, L2: l2, DRAM: { ...dram, busy_pct: dram.busy_pct ?? dramShare(counters) } },
  };
}

/** Whether there is anything to draw. */
export function hasTraffic(chart: MemoryChart): boolean {
  const { loads, stores, local, atomics, shared, requested, read, written, units } = chart;
  if ([loads, stores, local, atomics, shared, requested, read, written].some((each) => each !== null)) return true;
  return Object.values(units).some((unit) => unit.busy_pct !== null || unit.hit_pct !== null);
}

/** Some versions of Nsight Compute do not collect the share itself. */
function dramShare(counters: Counters): number | null {
  const names = ["bytes.sum.per_second", "bytes.sum.peak_sustained", "cycles_elapsed.avg.per_second"];
  const [rate, bytes, clock] = names.map((name) => counters.get(`dram__${name}`) ?? 0);
  const peak = bytes! * clock!;
  return peak > 0 && counters.has("dram__bytes.sum.per_second") ? (100 * rate!) / peak : null;
}
