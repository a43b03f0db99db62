// Ranges, operators and calls of all threads as one tree of stacks, nested by time and summed over instances. Each node
// has the host time of its instances and the device time of the work that its calls submitted (the launch column of
// device work). Lanes are read chunk by chunk in time order; reading stops at MAX_EVENTS, and the tree records that.

import { NO_NAME, NO_ROW, type Slices } from "./slices.ts";
import { BLOB, EVENTS_BEFORE, COUNT } from "./lane.ts";
import type { Lane } from "./manifest.ts";
import type { Recording } from "./recording.ts";
import type { Range } from "./state.ts";

export const MAX_EVENTS = 3_000_000;
const PAUSE_AFTER = 50_000; // events

export interface StackNode {
  name: string;
  table: string; // of its events; "" for threads and the root
  count: number;
  host_ns: number;
  device_ns: number; // of work submitted in it or below
  parent: StackNode | null;
  children: Map<string, StackNode>;
}

export interface StackTree {
  root: StackNode;
  events: number;
  omitted: number; // events not read
  unknown_ns: number; // device time whose launch is not in the tree
}

/** Instances differ by a number, which is removed from the name. */
export const plainName = (name: string): string => name.replace(/, \w+ = \d+/g, "").replace(/#\d+$/, "*");

const node = (name: string, table: string, parent: StackNode | null): StackNode => ({ name, table, count: 0, host_ns: 0, device_ns: 0, parent, children: new Map() });

/** null once `isCurrent` returns false: the result is no longer needed. */
export async function stackTree(recording: Recording, kinds: readonly string[], within: Range, isCurrent: () => boolean): Promise<StackTree | null> {
  const { tracks, lanes, tables } = recording.manifest;
  const tree: StackTree = { root: node("all threads", "", null), events: 0, omitted: 0, unknown_ns: 0 };
  const calls: (StackNode | undefined)[] = new Array(tables.get("api_call")?.rows ?? 0);
  for (const thread of tracks.filter((track) => track.kind === "thread")) {
    const mine = new Set(tracks.filter((track) => kinds.includes(track.kind) && (track.id === thread.id || track.parent === thread.id)).map((track) => track.id));
    const cursors = lanes.filter((lane) => mine.has(lane.track) && lane.kind !== "value" && lane.events > 0).map((lane) => new Cursor(recording, lane));
    if (cursors.length === 0) continue;
    if (!(await addThread(recording, tree, cursors, node(thread.name, "", tree.root), within, calls, isCurrent))) return null;
  }
  if (!(await addDeviceTime(recording, tree, calls, within, isCurrent))) return null;
  sumUp(tree.root);
  return tree;
}

/** The events of a lane in time order. */
class Cursor {
  slices: Slices | null = null;
  index = 0;
  private chunk = 0;

  constructor(
    private readonly recording: Recording,
    readonly lane: Lane,
  ) {}

  /** Whether there is another event; reads the next chunk if necessary. */
  async ready(): Promise<boolean> {
    while (this.slices === null || this.index >= this.slices.length) {
      const chunk = this.lane.levels[0]?.chunks[this.chunk++];
      if (chunk === undefined) return false;
      this.slices = await this.recording.chunks.loadSlices(chunk[BLOB]);
      this.index = 0;
    }
    return true;
  }

  get isExhausted(): boolean {
    return this.slices === null || this.index >= this.slices.length;
  }

  get start(): number {
    return this.slices!.start[this.index]!;
  }

  get end(): number {
    return this.slices!.end[this.index]!;
  }

  /** The number of events from the current position. */
  get remaining(): number {
    const chunk = this.lane.levels[0]!.chunks[this.chunk - 1]!;
    return this.lane.events - chunk[EVENTS_BEFORE] - Math.min(this.index, chunk[COUNT]);
  }
}

async function addThread(
  recording: Recording,
  tree: StackTree,
  cursors: Cursor[],
  thread: StackNode,
  within: Range,
  calls: (StackNode | undefined)[],
  isCurrent: () => boolean,
): Promise<boolean> {
  let live: Cursor[] = [];
  for (const cursor of cursors) if (await cursor.ready()) live.push(cursor);
  const open: { node: StackNode; end: number }[] = [];
  let visited = 0;
  while (live.length > 0) {
    if (tree.events >= MAX_EVENTS) {
      tree.omitted += live.reduce((sum, cursor) => sum + cursor.remaining, 0);
      break;
    }
    const next = live.reduce((best, each) => (isBefore(each, best) ? each : best));
    const { start, end } = next;
    if (start < within.to && end > within.from && end > start) {
      tree.events++;
      while (open.length > 0 && open[open.length - 1]!.end <= start) open.pop();
      const parent = open[open.length - 1];
      const limit = Math.min(end, parent?.end ?? within.to, within.to); // an event that outlives its parent is clipped
      const into = childOf(parent?.node ?? thread, nameOf(recording, next), next.lane.table);
      into.count++;
      into.host_ns += limit - Math.max(start, within.from);
      const row = next.slices!.row[next.index]!;
      if (next.lane.table === "api_call" && row !== NO_ROW) calls[row] = into;
      open.push({ node: into, end: limit });
    }
    next.index++;
    if (next.isExhausted && !(await next.ready())) live = live.filter((cursor) => cursor !== next);
    if (++visited % PAUSE_AFTER === 0) await new Promise((resume) => setTimeout(resume));
    if (!isCurrent()) return false;
  }
  if (thread.children.size === 0) return true;
  tree.root.children.set(`${thread.name} ${tree.root.children.size}`, thread);
  return true;
}

/** The earlier one; if two start together, the longer, then the higher on the screen. */
function isBefore(a: Cursor, b: Cursor): boolean {
  if (a.start !== b.start) return a.start < b.start;
  return a.end !== b.end ? a.end > b.end : a.lane.track < b.lane.track || (a.lane.track === b.lane.track && a.lane.y < b.lane.y);
}

function nameOf(recording: Recording, { slices, index, lane }: Cursor): string {
  const name = slices!.name[index]!;
  return plainName(name === NO_NAME ? (lane.label ?? lane.table) : recording.strings.textOf(name));
}

function childOf(parent: StackNode, name: string, table: string): StackNode {
  let child = parent.children.get(name);
  if (child === undefined) parent.children.set(name, (child = node(name, table, parent)));
  return child;
}

async function addDeviceTime(recording: Recording, tree: StackTree, calls: (StackNode | undefined)[], within: Range, isCurrent: () => boolean): Promise<boolean> {
  for (const table of ["kernel", "memcpy", "memset"]) {
    const chunks = recording.manifest.tables.get(table)?.blobs.length ?? 0;
    for (let chunk = 0; chunk < chunks; chunk++) {
      const [start, dur, launch] = await Promise.all(["start", "dur", "launch"].map((name) => recording.column(table, name, chunk)));
      if (!isCurrent()) return false;
      if (!start || !dur) continue;
      for (let i = 0; i < start[1].rows; i++) {
        const at = Number(start[1].value(i) ?? NaN);
        if (!(at >= within.from && at <= within.to)) continue;
        const length = Number(dur[1].value(i) ?? 0);
        const call = launch?.[1].value(i) ?? null;
        const into = call === null ? undefined : calls[Number(call)];
        if (into) into.device_ns += length;
        else tree.unknown_ns += length;
      }
    }
  }
  return true;
}

/** Adds up the device time of descendants, and the host time of threads, which have no event themselves. */
function sumUp(at: StackNode): void {
  for (const child of at.children.values()) {
    sumUp(child);
    at.device_ns += child.device_ns;
    if (at.table === "") at.host_ns += child.host_ns;
  }
}
