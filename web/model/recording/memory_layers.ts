// The parts of each device's memory over time, from the analysis `memory_curve`: layers that add up to the memory in
// use.

import { numberOf, type ReportTable } from "./report.ts";

export interface Layer {
  name: string;
  bytes: number[]; // at each time, until the next one
}

export interface MemoryLayers {
  device: number;
  times: number[]; // ns from the start of the window
  used: number[];
  layers: Layer[]; // the lowest first; those that were not recorded are missing
}

const PARTS: readonly [column: string, name: string][] = [
  ["allocated_bytes", "allocated by frameworks"],
  ["cached_bytes", "cached by frameworks"],
  ["calls_bytes", "other CUDA allocations"],
  ["rest_bytes", "context, code and unrecorded memory"],
  ["others_bytes", "other processes"],
  ["device_rest_bytes", "assigned to no process"],
  ["not_attributed_bytes", "not attributed"],
];

export function memoryLayers(table: ReportTable): MemoryLayers[] {
  const devices = new Map<number, number[]>(); // rows
  table.rows.forEach((_, row) => {
    const device = numberOf(table, row, "device") ?? 0;
    devices.set(device, [...(devices.get(device) ?? []), row]);
  });
  return [...devices].map(([device, rows]) => {
    const column = (name: string) => rows.map((row) => numberOf(table, row, name));
    const layers = PARTS.map(([name, text]) => ({ name: text, values: column(name) }))
      .filter(({ values }) => values.some((value) => value !== null && value > 0))
      .map(({ name, values }) => ({ name, bytes: values.map((value) => value ?? 0) }));
    const [times, used] = ["at_ns", "used_bytes"].map((name) => column(name).map((value) => value ?? 0));
    return { device, times: times!, used: used!, layers };
  });
}
