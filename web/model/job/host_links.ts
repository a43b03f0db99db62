// Transfers between the hosts of a job, from the table `links`: how long each group's transfers take next to equal
// ones. A pair of hosts has the ratio of the slowest group that connects it; a host with itself, that of its own
// groups.

import type { Job } from "./job.ts";
import { readRanks } from "./rank_list.ts";
import type { ReportTable } from "../recording/report.ts";
import { numberOf, textOf } from "../recording/report.ts";

export interface HostLinks {
  hosts: string[]; // in the order of their first ranks
  ratios: Float64Array; // by host, then host; NaN: no transfer
  rows: Int32Array; // of the table, for each ratio; -1 without one
  unread: number; // groups whose ranks are unknown, or not in the report
}

/** Whether a link is slow enough to look at: one of the table is, or one holds the job up. */
export function areLinksInQuestion(job: Job, table: ReportTable | null): boolean {
  const slow = table?.columns.findIndex(({ name }) => name === "slow") ?? -1;
  if (job.units.some(({ cause }) => cause === "slow link")) return true;
  return table?.rows.some((row) => row[slow] === true) ?? false;
}

export function hostLinks(job: Job, table: ReportTable): HostLinks {
  const [hosts, hostOf] = hostsOf(job);
  const ratios = new Float64Array(hosts.length ** 2).fill(NaN);
  const rows = new Int32Array(hosts.length ** 2).fill(-1);
  let unread = table.row_count - table.rows.length;
  table.rows.forEach((_, row) => {
    const ratio = numberOf(table, row, "ratio");
    const found = readRanks(textOf(table, row, "ranks") ?? "")?.map((rank) => hostOf.get(rank));
    if (ratio === null || found === undefined || found.includes(undefined)) return void unread++;
    for (const cell of cellsOf([...new Set(found as number[])], hosts.length)) {
      if (ratios[cell]! >= ratio) continue;
      [ratios[cell], rows[cell]] = [ratio, row];
    }
  });
  return { hosts, ratios, rows, unread };
}

/** Names of hosts, and the host of each rank. A rank without one is taken for a host of its own. */
function hostsOf(job: Job): [string[], Map<number, number>] {
  const hosts: string[] = [];
  const places = new Map<string, number>();
  const hostOf = new Map<number, number>();
  for (const { rank, host } of job.ranks) {
    const name = host ?? `rank ${rank}`;
    if (!places.has(name)) places.set(name, hosts.push(name) - 1);
    hostOf.set(rank, places.get(name)!);
  }
  return [hosts, hostOf];
}

/** The cells of all pairs of hosts of a group; of a group inside one host, that of the host. */
function cellsOf(hosts: readonly number[], count: number): number[] {
  if (hosts.length === 1) return [hosts[0]! * count + hosts[0]!];
  return hosts.flatMap((a) => hosts.filter((b) => b !== a).map((b) => a * count + b));
}
