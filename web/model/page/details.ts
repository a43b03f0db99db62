// The surroundings of a selected row: the call that launched it, the work it submitted, the events that enclose it, and
// its neighbours in the row. Each is a EventRef: its name and where to go.

import libraries from "library-frames";
import { eventAt, neighbourInRow, rangeOf, rowOf, type SliceRef } from "../recording/lane.ts";
import type { Lane } from "../recording/manifest.ts";
import type { Recording, Row } from "../recording/recording.ts";
import { NO_NAME } from "../recording/slices.ts";
import { measure } from "../range/measure.ts";
import type { Range, Selection } from "../recording/range.ts";
import type { Value } from "../../read/column.ts";

export type EventRef = Selection;

export interface Details {
  row: Row;
  launch: EventRef | null;
  python: EventRef | null; // the innermost function of the program around it, or around its launch
  line: string | null; // that launched it, as "function (file:line)"; null: not recorded
  work: EventRef | null; // the first
  work_count: number;
  enclosing: EventRef[]; // outermost first; for device work, those of the launch
  causes: { cause: string; ns: number }[]; // of a gap: its parts, largest first
  previous: Neighbour | null;
  next: Neighbour | null;
}

/** With its row if it has the name of the selection: its launch may have another shape. */
type Neighbour = EventRef & { same: Row | null };

export function eventRefOf(recording: Recording, found: SliceRef): EventRef {
  const { slices, index, lane } = found;
  const name = slices.name[index]!;
  const text = name === NO_NAME ? (lane.label ?? lane.table) : recording.strings.textOf(name);
  return { table: lane.table, row: slices.row[index]!, lane: lane.id, ...rangeOf(found), name: text };
}

export async function detailsOf(recording: Recording, selection: Selection): Promise<Details | null> {
  const row = await recording.row(selection.table, selection.row);
  if (row === null) return null;
  const { lanes } = recording.manifest;
  const lane = selection.lane === null ? undefined : lanes[selection.lane];
  const launch = await eventRefOfRow(recording, "api_call", row.number("launch"));
  const call = launch === null ? row : await recording.row("api_call", launch.row);
  const host = launch !== null ? launch : selection;
  const around = async (by: 1 | -1): Promise<Neighbour | null> => {
    const event = await beside(by);
    const isSame = event?.name === selection.name && event.table === selection.table;
    return event && { ...event, same: isSame ? await recording.row(event.table, event.row) : null };
  };
  const beside = async (by: 1 | -1) => {
    const place = { start: selection.from, lane: selection.lane ?? -1, row: selection.row };
    const found = lane ? await neighbourInRow(recording, rowOf(recording, lane), place, by) : null;
    if (found?.lane.table === "gap") return eventRefOfRow(recording, "gap", found.slices.row[found.index]!);
    return found && eventRefOf(recording, found);
  };
  const workTable = row.value("work_table");
  const hostLane = host.lane === null ? undefined : lanes[host.lane];
  const callsPython = hostLane !== undefined && host.table !== "python_call";
  return {
    row,
    launch,
    python: callsPython ? await frameAround(recording, hostLane, host.from) : null,
    line: call?.table === "api_call" ? lineOf(call.value("stack")) : null,
    work: typeof workTable === "string" ? await eventRefOfRow(recording, workTable, row.number("work_row")) : null,
    work_count: row.number("work_count") ?? 0,
    enclosing: await enclosing(recording, hostLane, host.from, host.to),
    causes: selection.table === "gap" ? await causesOf(recording, lane, selection) : [],
    previous: await around(-1),
    next: await around(1),
  };
}

export async function eventRefOfRow(recording: Recording, table: string, row: number | null): Promise<EventRef | null> {
  const found = row === null ? null : await recording.row(table, row);
  const from = found?.number("start") ?? null;
  if (found === null || row === null || from === null) return null;
  const name = String(found.value("name") ?? found.value("kind") ?? found.value("cause") ?? table);
  const lane = found.number("lane") ?? (table === "gap" ? laneOfGap(recording, found.number("device")) : null);
  return { table, row, lane, from, to: from + (found.number("dur") ?? 0), name };
}

/** Pieces of a gap are in lanes by cause, all in one row of the device's idle track; the first represents all. */
function laneOfGap({ manifest: { lanes, tracks } }: Recording, device: number | null): number | null {
  const isOf = (track: number) => device === null || tracks[track]?.device === device;
  return lanes.find((lane) => lane.table === "gap" && isOf(lane.track))?.id ?? null;
}

async function causesOf(recording: Recording, lane: Lane | undefined, gap: Range): Promise<Details["causes"]> {
  const device = lane === undefined ? null : recording.manifest.tracks[lane.track]!.device;
  const { devices } = await measure(recording, gap);
  return devices.find((each) => each.device === device)?.idle ?? [];
}

/** Such a frame says less than the program's own frame around it; the analyses have the same rule. */
export function isOfALibrary(frame: string): boolean {
  if (!frame.includes(".py")) return true;
  return libraries.some(({ how, text }) => (how === "starts" ? frame.startsWith(text) : frame.includes(text)));
}

/** The innermost frame of the program in a recorded stack, whose frames are the lines that ran. */
function lineOf(stack: Value): string | null {
  const frames = typeof stack === "string" ? stack.split(";") : [];
  return frames.findLast((frame) => !isOfALibrary(frame)) ?? null;
}

/** The innermost Python frame of the program that was open at a time on the thread of a lane. */
async function frameAround(recording: Recording, lane: Lane, time: number): Promise<EventRef | null> {
  const tracks = recording.childrenOf[lane.track]!.filter((track) => track.kind === "python");
  const frames = tracks.flatMap((track) => recording.lanesOf[track.id]!);
  for (const each of frames.sort((a, b) => b.y - a.y)) {
    const found = await eventAt(recording, each, time, 0);
    if (found === null || rangeOf(found).from > time || rangeOf(found).to <= time) continue;
    const frame = eventRefOf(recording, found);
    if (!isOfALibrary(frame.name)) return frame;
  }
  return null;
}

/** The events in rows above on the same track that contain a time span. */
async function enclosing(recording: Recording, lane: Lane | undefined, from: number, to: number): Promise<EventRef[]> {
  const out: EventRef[] = [];
  if (!lane) return out;
  const above = recording.lanesOf[lane.track]!.filter((each) => each.kind !== "value" && each.y < lane.y);
  above.sort((a, b) => a.y - b.y);
  for (const each of above) {
    const found = await eventAt(recording, each, from, 0);
    if (found && rangeOf(found).from <= from && rangeOf(found).to >= to) out.push(eventRefOf(recording, found));
  }
  return out;
}
