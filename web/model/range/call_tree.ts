// Call stacks of a range answer as trees, with the host time, the device time or the idle time of each stack. Three
// views of the same stacks: from the threads down to the functions they call; inverted, from each function up to its
// callers; and both around one function. Every view has the same total, and no time is counted twice.

import type { Frame } from "../recording/stack_frames.ts";
import type { RangeAnswer } from "./range_answer.ts";
import { HOST_TABLES, selfTimes } from "./range_tables.ts";

export const TIMES = ["host", "device", "idle"] as const;
export type Time = (typeof TIMES)[number];

/** A stack from the outermost frame, and the time spent in its last frame itself. */
export interface WeightedStack {
  frames: readonly Frame[];
  ns: number;
  count: number; // events of the last frame
}

export interface CallNode {
  name: string;
  table: string; // of its events; "": a thread, or the root
  total: number; // ns, with everything below
  self: number;
  count: number;
  parent: CallNode | null;
  children: Map<string, CallNode>;
}

const DEVICE_TABLES: ReadonlySet<string> = new Set(["kernel", "memcpy", "memset"]);

/** The stacks of one kind of time; without Python, their time is that of their callers. */
export function stacksOf(answer: RangeAnswer, time: Time, withPython: boolean): WeightedStack[] {
  const own = time === "host" ? selfTimes(answer) : null;
  const isKept = ({ table }: Frame) => withPython || table !== "python_call";
  const stacks: WeightedStack[] = [];
  for (const { frame: id, count, ns } of answer.sums.values()) {
    const frame = answer.frames.at(id);
    if (!isOf(frame, time)) continue;
    const frames = answer.frames.stack(id).filter(isKept);
    stacks.push({ frames, ns: own?.get(id) ?? ns, count: isKept(frame) ? count : 0 });
  }
  return stacks;
}

function isOf({ table }: Frame, time: Time): boolean {
  if (time === "host") return HOST_TABLES.has(table);
  return time === "device" ? DEVICE_TABLES.has(table) : table === "gap";
}

/** Names a frame among its siblings, and its function everywhere. */
export const frameKey = ({ table, name }: Pick<Frame, "table" | "name">): string => `${table} ${name}`;

const node = (name: string, table: string, parent: CallNode | null): CallNode =>
  ({ name, table, total: 0, self: 0, count: 0, parent, children: new Map() });

/** Adds a stack below a node, which gets its time as well. */
function addStack(root: CallNode, frames: readonly Frame[], ns: number, count: number): void {
  let at = root;
  at.total += ns;
  for (const { name, table } of frames) {
    const key = frameKey({ table, name });
    let child = at.children.get(key);
    if (child === undefined) at.children.set(key, (child = node(name, table, at)));
    at = child;
    at.total += ns;
  }
  at.self += ns;
  at.count += count;
}

/** From the threads to the innermost functions. */
export function callees(stacks: readonly WeightedStack[]): CallNode {
  const root = node("all threads", "", null);
  for (const { frames, ns, count } of stacks) addStack(root, frames, ns, count);
  return root;
}

/** From the innermost functions to their callers. */
export function callers(stacks: readonly WeightedStack[]): CallNode {
  const root = node("all functions", "", null);
  for (const { frames, ns, count } of stacks) if (ns > 0) addStack(root, [...frames].reverse(), ns, count);
  return root;
}

export interface Sandwich {
  callers: CallNode; // the root is the function
  callees: CallNode;
}

/** The stacks through a function, cut at its outermost instance. */
export function sandwich(stacks: readonly WeightedStack[], table: string, name: string): Sandwich {
  const both = { callers: node(name, table, null), callees: node(name, table, null) };
  for (const { frames, ns, count } of stacks) {
    const at = frames.findIndex((frame) => frame.table === table && frame.name === name);
    if (at < 0) continue;
    addStack(both.callers, frames.slice(0, at).reverse(), ns, 0);
    addStack(both.callees, frames.slice(at + 1), ns, count);
  }
  return both;
}

/** The time of the stacks with a frame that matches. */
export function matchedTime(stacks: readonly WeightedStack[], test: (name: string) => boolean): number {
  return stacks.reduce((sum, { frames, ns }) => (frames.some(({ name }) => test(name)) ? sum + ns : sum), 0);
}
