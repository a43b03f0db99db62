// The blocks of each device's memory over time, from the analysis `memory_trace`, and who holds them at a moment. What
// is held then equals the analysis `allocations` at that time; tests compare them.

import type { Recording } from "./recording.ts";
import type { Cell, ReportTable } from "./report.ts";
import { firstAbove } from "./slices.ts";

export interface Site {
  owner: string | null; // operator or Python frame, or a category if nothing else is known
  category: string | null;
  stack: string | null;
}

export interface Block extends Site {
  row: number; // of the analysis
  from: number; // ns; -Infinity: since before the recording
  to: number; // Infinity: not released
  bytes: number;
}

export interface DeviceBlocks {
  device: number | null; // null: the file does not name it
  /** false: releases cannot be matched to allocations, so that `blocks` are changes of their category. */
  isMatched: boolean;
  blocks: Block[]; // in order of time
  times: Float64Array; // of events
  held: Float64Array; // bytes after each
}

export interface Holder extends Site {
  bytes: number;
  count: number;
  rows: number[]; // of its blocks
}

const COLUMNS = ["device", "start_ns", "dur_ns", "bytes", "held_bytes", "owner", "category", "stack"];

export async function readBlocks(recording: Recording, table: ReportTable): Promise<DeviceBlocks[]> {
  const at = COLUMNS.map((name) => table.columns.findIndex((column) => column.name === name));
  if (at.includes(-1)) return [];
  type Read = { blocks: Block[]; changes: Block[]; times: number[]; held: number[]; isMatched: boolean };
  const devices = new Map<number | null, Read>();
  await recording.rowsOf(table).scan(at, (cells, row) => {
    const [device, start, dur, bytes, held, owner, category, stack] = at.map((column) => cells[column]);
    const key = numberIn(device);
    const own = devices.get(key) ?? { blocks: [], changes: [], times: [], held: [], isMatched: false };
    devices.set(key, own);
    const [from, length] = [numberIn(start) ?? -Infinity, numberIn(dur)];
    const to = length === null ? Infinity : from + length;
    const site = { owner: textIn(owner), category: textIn(category), stack: textIn(stack) };
    const block = { row, from, to, bytes: numberIn(bytes) ?? 0, ...site };
    if (length !== null) own.isMatched = true;
    if (block.bytes > 0) own.blocks.push(block);
    own.changes.push(block);
    own.times.push(from);
    own.held.push(numberIn(held) ?? NaN);
  }, () => true);
  return [...devices].map(([device, { blocks, changes, times, held, isMatched: hasEnds }]) => {
    const isMatched = hasEnds || changes.every(({ bytes }) => bytes > 0);
    return {
      device, isMatched, blocks: isMatched ? blocks : changes, times: Float64Array.from(times),
      held: Float64Array.from(held),
    };
  });
}

const numberIn = (cell: Cell | undefined): number | null => (typeof cell === "number" ? cell : null);
const textIn = (cell: Cell | undefined): string | null => (typeof cell === "string" ? cell : null);

/** Bytes held at a time; 0 before the first event. */
export function heldAt({ times, held }: Pick<DeviceBlocks, "times" | "held">, time: number): number {
  const index = firstAbove(times, time) - 1;
  return index < 0 ? 0 : held[index]!;
}

export const siteKey = ({ owner, category, stack }: Site): string => `${owner}\0${category}\0${stack}`;

/** Who holds memory at a time, most first; memory without a known allocation is an entry without owner. */
export function holdersAt(memory: DeviceBlocks, time: number): Holder[] {
  const holders = new Map<string, Holder>();
  let known = 0;
  for (const block of memory.blocks) {
    if (block.from > time) break;
    if (memory.isMatched && block.to <= time) continue;
    const { owner, category, stack, bytes, row } = block;
    const key = siteKey(block);
    const holder = holders.get(key) ?? { owner, category, stack, bytes: 0, count: 0, rows: [] };
    holders.set(key, holder);
    holder.bytes += bytes;
    holder.count++;
    holder.rows.push(row);
    known += bytes;
  }
  const rest = heldAt(memory, time) - known;
  const found = [...holders.values()].filter(({ bytes }) => bytes > 0);
  const nobody = found.find(({ owner, category, stack }) => owner === null && category === null && stack === null);
  if (rest > 0 && nobody) nobody.bytes += rest;
  else if (rest > 0) found.push({ owner: null, category: null, stack: null, bytes: rest, count: 0, rows: [] });
  return found.sort((a, b) => b.bytes - a.bytes);
}

/** The first time at which most is held. */
export function peakOf({ times, held }: DeviceBlocks): { at: number; bytes: number } {
  let peak = 0;
  for (let i = 1; i < held.length; i++) if (held[i]! > held[peak]!) peak = i;
  return { at: Math.max(0, times[peak] ?? 0), bytes: held[peak] ?? 0 };
}
