// Measures a time range: busy time and idle time by cause for each device, and the number of events of each table that
// start in it. Exact and fast for a range of any length: each chunk records the sums before it, so only the chunks at
// both ends are read. Counts include events that start inside; times are clipped to the range.

import { BLOB, EVENTS_BEFORE, isTimesOnly, START, TIME_BEFORE } from "../recording/lane.ts";
import type { Lane } from "../recording/manifest.ts";
import type { Recording } from "../recording/recording.ts";
import { firstFrom } from "../recording/slices.ts";
import type { Range } from "../recording/range.ts";

export interface DeviceMeasure {
  device: number;
  name: string;
  busy_ns: number;
  idle: { cause: string; ns: number }[]; // largest first
}

export interface Measure {
  range: Range;
  length_ns: number;
  devices: DeviceMeasure[];
  counts: { table: string; count: number }[]; // events that start inside
}

/** Events that start before a time, and their duration up to it. */
export async function before(recording: Recording, lane: Lane, time: number): Promise<{ events: number; ns: number }> {
  const chunks = lane.levels[0]?.chunks ?? [];
  const chunk = chunks.findLast((each) => each[START] < time);
  if (!chunk) return { events: 0, ns: 0 };
  const slices = await recording.chunks.loadSlices(chunk[BLOB]);
  if (slices === null) throw new Error("part of the recording cannot be read");
  const begun = firstFrom(slices.start, time);
  let events = chunk[EVENTS_BEFORE];
  let ns = chunk[TIME_BEFORE];
  for (let i = 0; i < begun; i++) {
    events += slices.count[i]!;
    ns += slices.end[i]! <= time ? slices.busy[i]! : Math.min(slices.busy[i]!, time - slices.start[i]!);
  }
  return { events, ns };
}

async function inside(recording: Recording, lane: Lane, range: Range): Promise<{ events: number; ns: number }> {
  const [from, to] = await Promise.all([before(recording, lane, range.from), before(recording, lane, range.to)]);
  return { events: to.events - from.events, ns: to.ns - from.ns };
}

export async function measure(recording: Recording, wanted: Range): Promise<Measure> {
  const range = { from: Math.round(wanted.from), to: Math.round(wanted.to) };
  const { lanes, tracks } = recording.manifest;
  const devices = new Map<number, DeviceMeasure>();
  const counts = new Map<string, number>();
  for (const lane of lanes) {
    if (lane.kind === "value" || lane.levels.length === 0 || (isTimesOnly(lane) && lane.table !== "busy")) continue;
    const { events, ns } = await inside(recording, lane, range);
    const device = tracks[lane.track]!.device;
    if (lane.table !== "busy" && lane.table !== "gap") counts.set(lane.table, (counts.get(lane.table) ?? 0) + events);
    else if (device !== null) {
      const entry = devices.get(device) ?? { device, name: deviceName(recording, device), busy_ns: 0, idle: [] };
      devices.set(device, entry);
      if (lane.table === "busy") entry.busy_ns += ns;
      else if (ns > 0) entry.idle.push({ cause: lane.label ?? "unknown", ns });
    }
  }
  for (const device of devices.values()) device.idle.sort((a, b) => b.ns - a.ns);
  return {
    range,
    length_ns: range.to - range.from,
    devices: [...devices.values()],
    counts: [...counts].filter(([, count]) => count > 0).map(([table, count]) => ({ table, count })),
  };
}

function deviceName(recording: Recording, device: number): string {
  const found = recording.manifest.tracks.find((track) => track.kind === "device" && track.device === device);
  return found?.name ?? `GPU ${device}`;
}
