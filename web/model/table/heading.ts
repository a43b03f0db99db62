// Names of columns, metrics and tables as people read them: words, without the unit, which a heading shows separately.
// A filter accepts a column's name, the name without its unit, and the heading with _ for spaces.

import type { ReportColumn } from "../recording/report.ts";

const UNITS = /_(ns|pct|bytes_per_s|bytes|gb_per_s|flop_per_s|ppm|j|w)$/;

const NAMES: Readonly<Record<string, string>> = {
  at_ns: "time",
  host_what: "host activity",
  gb_per_s: "throughput",
  flop_per_s: "FLOP rate",
  bytes_per_s: "byte rate",
  flop_per_byte: "arithmetic intensity",
  pid: "process ID",
  std: "standard deviation",
  std_ns: "standard deviation",
  max_over_mean: "max / mean",
  p95_over_p50: "p95 / p50",
  over_mean: "/ mean",
  blocks_per_sm: "blocks per SM",
  step_p50_ns: "median step",
  step_p50: "median step",
  step_mean: "mean step",
  step_total: "sum of steps",
  mean_w: "mean power",
  would_change_if: "would change if",
  seq: "sequence number",
  shared_bytes: "shared memory",
  local_bytes: "local memory",
};

const WORDS: Readonly<Record<string, string>> = {
  alg: "algorithm",
  api: "API",
  comm: "communication",
  cpu: "CPU",
  dst: "destination",
  dur: "duration",
  gil: "GIL",
  gpu: "GPU",
  hlo: "HLO",
  id: "ID",
  mem: "memory",
  src: "source",
};

/** "start_ns": "start"; "cpu_self_ns": "CPU self". */
export function headingOf({ name, heading }: Pick<ReportColumn, "name" | "heading">): string {
  if (heading !== undefined) return heading;
  const whole = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  const words = name.replace(UNITS, "").split("_");
  return whole ?? words.map((word) => (Object.hasOwn(WORDS, word) ? WORDS[word] : word)).join(" ");
}

/** "os_calls": "os calls"; the name of a table is also what `report` is asked for. */
export function tableTitle(name: string): string {
  return name.replaceAll("_", " ");
}

/** The column that a word of a filter means; -1: none. */
export function columnNamed(columns: readonly ReportColumn[], word: string): number {
  const exact = columns.findIndex((column) => column.name === word);
  if (exact >= 0) return exact;
  const wanted = word.toLowerCase();
  const namesOf = (column: ReportColumn) =>
    [column.name.replace(UNITS, ""), headingOf(column).toLowerCase().replaceAll(" ", "_")];
  return columns.findIndex((column) => namesOf(column).includes(wanted));
}
