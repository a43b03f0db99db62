// Finds a report row in the recording and moves the timeline there. Rows with a time go to that time; rows about a name
// highlight it and go to its longest event in the reported part. Times in the report count from the start of the
// recording, also for a part.

import type { Name } from "../recording/names.ts";
import { nameSetsOf, isNamed } from "../search/search.ts";
import { eventRefOf } from "../page/details.ts";
import { eventStartingAt } from "../recording/lane.ts";
import type { Lane } from "../recording/manifest.ts";
import { isAboutLaunches, isAboutLines, measuredKernels, rowOfKernel } from "../kernel/measured_kernels.ts";
import { longestEvent } from "../recording/longest.ts";
import type { Recording } from "../recording/recording.ts";
import { numberOf, tableOf, textOf, type Cell, type Report, type ReportTable } from "../recording/report.ts";
import { lineKey } from "../kernel/source_lines.ts";
import { around, type Range, type Selection } from "../recording/range.ts";
import type { Viewer } from "../page/viewer.ts";

/** The events that a table's rows describe, and the column with their names. */
const NAMED: Record<string, [column: string, tables: string[]]> = {
  kernels: ["name", ["kernel"]],
  launches: ["name", ["kernel"]],
  collectives: ["name", ["kernel"]],
  counters: ["name", ["kernel"]],
  memcpy: ["kind", ["memcpy"]],
  api: ["name", ["api_call"]],
  ops: ["name", ["op", "range"]],
  arithmetic: ["name", ["op"]],
  ranges: ["path", ["range"]],
  stacks: ["function", ["python_call"]],
};

const TIMED = ["start_ns", "at_ns", "first_ns", "gpu_end_ns"];

/** The part of the recording that the report covers. */
export function reportedPart(recording: Recording): Range {
  const { part_ns, window_ns } = recording.manifest;
  return part_ns === null ? { from: 0, to: window_ns } : { from: part_ns[0], to: part_ns[1] };
}

/** Whether rows of the table can be shown on the timeline. */
export function canShowOnTimeline(recording: Recording, table: ReportTable): boolean {
  if (recording.manifest.job !== null) return false; // its tables have the times of many clocks
  if (table.name === "idle" || table.name === "samples") return table.rows.length > 0;
  if (table.columns.some((column) => TIMED.includes(column.name))) return true;
  const named = NAMED[table.name];
  return named !== undefined && recording.manifest.lanes.some((lane) => named[1].includes(lane.table));
}

/** Whether rows of the table lead anywhere: to the timeline, or to the page of a kernel. */
export function canShowRow(recording: Recording, table: ReportTable): boolean {
  return isAboutLaunches(table) || isAboutLines(table) ? table.rows.length > 0 : canShowOnTimeline(recording, table);
}

export async function showRow(viewer: Viewer, report: Report, table: ReportTable, row: number): Promise<void> {
  const kernel = rowOfKernel(report, table, row);
  if (kernel !== null) return viewer.openKernel(measuredKernels(report)[kernel]!.launch);
  if (isAboutLines(table)) return showLine(viewer, report, table, row);
  if (table.name === "gaps") return showGap(viewer, table, row);
  if (table.name === "idle") return showCause(viewer, report, table, row);
  if (table.name === "samples")
    return viewer.set({ page: "timeline", timeline: { filter: textOf(table, row, "metric") ?? "" } });
  const range = timesOf(table, row);
  if (range !== null) return viewer.goTo(range, range.to > range.from);
  const named = NAMED[table.name];
  const name = named && textOf(table, row, named[0]);
  if (named && name) return showName(viewer, named[1], name);
  viewer.set({ problem: `This row of ${table.name} has no event on the timeline.` });
}

/** Shows a source line on the page of its kernel. */
function showLine(viewer: Viewer, report: Report, table: ReportTable, row: number): void {
  const name = textOf(table, row, "name");
  const sampled = viewer.recording.manifest.sampled.find((each) => each.name === name);
  if (sampled === undefined) return viewer.set({ problem: "This line has no kernel with a page." });
  const measured = measuredKernels(report)[sampled.row];
  const line = lineKey(table, row);
  measured === undefined ? viewer.openSampled(sampled.name, line) : viewer.openKernel(measured.launch, line);
}

function timesOf(table: ReportTable, row: number): Range | null {
  const [end, wall] = [numberOf(table, row, "gpu_end_ns"), numberOf(table, row, "wall_ns")];
  if (end !== null && wall !== null) return { from: end - wall, to: end };
  const start = TIMED.map((name) => numberOf(table, row, name)).find((time) => time !== null);
  if (start === undefined || start === null) return null;
  const last = numberOf(table, row, "last_ns");
  const length = numberOf(table, row, "dur_ns") ?? (last === null ? 0 : last - start);
  return { from: start, to: start + length };
}

async function showGap(viewer: Viewer, table: ReportTable, row: number): Promise<void> {
  const { recording } = viewer;
  const range = timesOf(table, row)!;
  const device = numberOf(table, row, "device");
  const { lanes, tracks } = recording.manifest;
  for (const lane of lanes) {
    if (lane.table !== "gap" || tracks[lane.track]!.device !== device) continue;
    const piece = await eventStartingAt(recording, lane, range.from);
    if (piece === null) continue;
    await viewer.select("gap", piece.slices.row[piece.index]!, false);
    break;
  }
  viewer.jump(around(range, 0.25), { page: "timeline" });
}

/** Shows the longest gap of the report; from a gap that is selected, the next longest or the one before. */
export async function showNextGap(viewer: Viewer, by: 1 | -1): Promise<void> {
  const { recording } = viewer;
  const gaps = tableOf(await recording.report(), "gaps");
  if (gaps === null || gaps.rows.length === 0)
    return viewer.set({ problem: "The report lists no idle time of a GPU." });
  const { selection } = viewer.state;
  const wanted = selection && rowOfGap(recording, selection);
  const at = wanted ? await firstRow(recording, gaps, wanted) : -1;
  const rows = recording.rowsOf(gaps);
  const next = at < 0 ? 0 : (at + by + rows.length) % rows.length;
  await showGap(viewer, { ...gaps, rows: [[...(await rows.read([next]))[0]!]] }, 0);
}

/** Highlights the pieces of the cause and shows the longest gap that is mostly due to it, else its longest piece. */
async function showCause(viewer: Viewer, report: Report, table: ReportTable, row: number): Promise<void> {
  const { recording } = viewer;
  const device = numberOf(table, row, "device");
  const cause = textOf(table, row, "cause") ?? "";
  viewer.highlight([cause]);
  const gaps = tableOf(report, "gaps");
  const gap =
    gaps?.rows.findIndex((_, i) => numberOf(gaps, i, "device") === device && textOf(gaps, i, "cause") === cause) ?? -1;
  if (gaps && gap >= 0) return showGap(viewer, gaps, gap);
  const { lanes, tracks } = recording.manifest;
  const ofCause = lanes.filter((lane) => lane.table === "gap" && lane.label === cause);
  const mine = ofCause.filter((lane) => tracks[lane.track]!.device === device);
  const found = await longestEvent(recording, mine, () => true, reportedPart(recording));
  if (found) viewer.goTo({ from: found.slices.start[found.index]!, to: found.slices.end[found.index]! });
}

export async function showName(viewer: Viewer, tables: readonly string[], wanted: string): Promise<void> {
  const { recording } = viewer;
  const names = namesOf(await recording.names(), tables, wanted);
  const nameSets = nameSetsOf(recording, names);
  const lanes = recording.manifest.lanes.filter((lane) => lane.kind !== "value" && nameSets.has(lane.table));
  const isWanted = (lane: Lane, name: number) => isNamed(recording, lane, nameSets.get(lane.table)!, name);
  const found = await longestEvent(recording, lanes, isWanted, reportedPart(recording));
  if (found === null) return viewer.set({ problem: `No event named '${wanted}' on the timeline.` });
  viewer.highlight(names.map((name) => name.name));
  viewer.choose(eventRefOf(recording, found), true);
}

/** A trailing * stands for the number in ProfilerStep#N. For a range path, the last existing name counts. */
export function namesOf(names: readonly Name[], tables: readonly string[], wanted: string): Name[] {
  const mine = names.filter((name) => tables.includes(name.table));
  const numbered = (text: string) => text.replace(/#\d+$/, "*");
  const same = mine.filter((name) => name.name === wanted || (wanted.endsWith("*") && numbered(name.name) === wanted));
  if (same.length > 0) return same;
  const ends = mine.filter((name) => wanted.endsWith(`/${name.name}`) || wanted.endsWith(`/${numbered(name.name)}`));
  const longest = Math.max(0, ...ends.map((name) => name.name.length));
  return ends.filter((name) => name.name.length === longest);
}

/** Shows the report row of a selected event on the tables page. */
export async function showRowAbout(viewer: Viewer, selection: Selection): Promise<void> {
  const report = await viewer.recording.report();
  for (const table of report.tables) {
    const found = table.name === "gaps" ? rowOfGap(viewer.recording, selection) : rowNamed(table, selection);
    const row = found === null ? -1 : await firstRow(viewer.recording, table, found);
    if (row >= 0) return viewer.openTable(table.name, row);
  }
  viewer.set({ problem: `No report row for ${selection.name}: it may lie outside the reported part.` });
}

/** The row with these texts and numbers, among all rows of the table. */
interface Wanted {
  columns: readonly string[];
  isIt: (...cells: Cell[]) => boolean;
}

async function firstRow(recording: Recording, table: ReportTable, { columns, isIt }: Wanted): Promise<number> {
  const at = columns.map((name) => table.columns.findIndex((column) => column.name === name));
  if (at.includes(-1)) return -1;
  let first = -1;
  const visit = (cells: readonly Cell[], row: number) => {
    if (first < 0 && isIt(...at.map((column) => cells[column] ?? null))) first = row;
  };
  await recording.rowsOf(table).scan(at, visit, () => first < 0);
  return first;
}

/** null: the selection is something else. */
function rowOfGap(recording: Recording, { table: of, from, lane }: Selection): Wanted | null {
  const { lanes, tracks } = recording.manifest;
  const own = lane === null ? null : tracks[lanes[lane]!.track]!.device;
  if (of !== "gap") return null;
  return { columns: ["device", "start_ns"], isIt: (device, start) => device === own && start === from };
}

function rowNamed(table: ReportTable, { table: of, name }: Selection): Wanted | null {
  const named = NAMED[table.name];
  if (!named?.[1].includes(of)) return null;
  const numbered = name.replace(/#\d+$/, "*");
  const ends = (text: string) => text.endsWith(`/${name}`) || text.endsWith(`/${numbered}`);
  const isIt = (text: Cell) =>
    text === name || text === numbered || (table.name === "ranges" && typeof text === "string" && ends(text));
  return { columns: [named[0]], isIt };
}
