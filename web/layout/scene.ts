// One frame: state, placed tracks, scroll position and size become a display list. Pure: chunks come through functions
// that return at once, text widths through a Fitter. No drawing or waiting happens here.

import type { LaneArrow } from "../model/recording/lane.ts";
import type { Lane } from "../model/recording/manifest.ts";
import { isOn } from "../model/search/search.ts";
import { firstFrom, NO_NAME, type Slices } from "../model/recording/slices.ts";
import type { Range } from "../model/recording/range.ts";
import type { State } from "../model/page/state.ts";
import type { Strings } from "../model/recording/strings.ts";
import type { Values } from "../model/recording/values.ts";
import { answerBands } from "./answer_bands.ts";
import { pathBands, pathLinks } from "./critical_path.ts";
import {
  causeOf, colorOf as colorOfEvent, DIMMED, EDGE, EXPOSED, HIDDEN, NOTHING, phaseOf, WORK, type Cause,
} from "./colors.ts";
import { Coverage } from "./coverage.ts";
import type { Area, Arrow, Box, Busy, Label, Scene, Strips } from "./display.ts";
import type { Fitter } from "./fit.ts";
import { paintLane, type LaneView, type LabelledSlice } from "./lane_slices.ts";
import { plotLane } from "./lane_values.ts";
import { ownParts, shortName, type Span } from "./short_name.ts";
import { ticksOf } from "./ticks.ts";
import { amount, duration, moment } from "./time_text.ts";
import { COMPACT_ROW, type Placement, type PlacedTrack } from "./tracks.ts";

export const MINIMAP = 26;
export const RULER = 26;
export const HEAD = MINIMAP + RULER;
const MIN_LABEL_WIDTH = 22; // minimum width in css pixels of a slice with a label
const MIN_HATCH_WIDTH = 6;
const MIN_COVERED_SHADE = 160; // minimum shade of a pixel that counts as covered

export interface FrameInput {
  state: State;
  length: number; // ns of the recording
  width: number;
  height: number;
  scale: number;
  scroll: number;
  pinned: Placement;
  rest: Placement;
  busy: { shares: number[]; range: Range } | null; // for the minimap
  cursor: number | null; // x of the pointer
  links: readonly LaneArrow[]; // for the selection and the measured range
  critical: readonly Lane[]; // the lanes of the critical path if it is marked
}

export interface SceneSource {
  strings: Strings;
  lanes: readonly Lane[];
  slices: (blob: number) => Slices | null;
  values: (blob: number) => Values | null;
  fitter: Fitter;
}

type Scale = (time: number) => number; // to x

export function sceneOf(frame: FrameInput, source: SceneSource): Scene {
  const { state, width, height, length } = frame;
  const { view } = state;
  const x: Scale = (time) => ((time - view.from) / (view.to - view.from)) * width;
  const ticks = ticksOf(view, width);
  const pinnedHeight = Math.min(frame.pinned.height, Math.max(0, (height - HEAD) / 2));
  const lane = laneView(frame, source);
  const pinned = areaOf(frame, source, lane, frame.pinned, HEAD, pinnedHeight, 0, x);
  const below = HEAD + pinnedHeight;
  const rest = areaOf(frame, source, lane, frame.rest, below, height - below, frame.scroll, x);
  const { range } = state;
  const [from, to] = [(view.from / length) * width, (view.to / length) * width];
  const inside = ticks.ticks.filter(({ at }) => at >= 0 && at <= length).map((tick) => ({ ...tick, x: x(tick.at) }));
  const kept = state.kept.map(({ number, from, to }) => ({ x0: x(from), x1: x(to), text: String(number) }));
  return {
    width,
    height,
    scale: frame.scale,
    minimap: { top: 0, height: MINIMAP, busy: busyOf(frame), from, to },
    ruler: { top: MINIMAP, height: RULER, base: ticks.base, ticks: inside },
    areas: [pinned, rest],
    range: range && { x0: x(range.from), x1: x(range.to), text: duration(range.to - range.from) },
    kept: kept.filter(({ x0, x1 }) => x1 >= 0 && x0 <= width),
    cursor: frame.cursor === null ? null : { x: frame.cursor, text: cursorText(frame, frame.cursor, ticks.step) },
    arrows: arrowsOf(frame, linksOf(frame, source), x, pinnedHeight),
    answer: answerBands(state.sql.answer?.ranges ?? [], x, width),
    links: arrowsOf(frame, pathLinks(frame.critical, view, lane.pixels, source.slices), x, pinnedHeight),
  };
}

/** The shares cover a part of the recording; outside it the strip is empty. */
function busyOf({ busy, length, width }: FrameInput): Busy | null {
  return busy && { shares: busy.shares, x0: (busy.range.from / length) * width, x1: (busy.range.to / length) * width };
}

function cursorText({ state: { view }, length, width }: FrameInput, cursor: number, step: number): string {
  const time = Math.round(view.from + (cursor / width) * (view.to - view.from));
  if (time < 0) return "before the recording";
  return time > length ? "after the recording" : moment(time, Math.max(1, step / 100));
}

/** The current colours of lanes, cached per frame because a lane needs them for every slice. */
function laneView(frame: FrameInput, source: SceneSource): LaneView {
  const { highlight, eventFilter: filter } = frame.state.found;
  const has = (label: string) => highlight?.has(source.strings.idOf(label)!) ?? false;
  const passes = (duration: number | null) => filter === null || duration === null || filter.passes(duration);
  const causes = source.lanes.some((lane) => lane.table === "gap" && lane.label !== null && has(lane.label));
  const hues = new Map<string, number>();
  const colorOf = (lane: Lane, name: number, duration: number | null): number => {
    if (lane.table === "gap" && lane.label !== null)
      return causes && !has(lane.label) ? DIMMED : causeOf(lane.label).code;
    if (lane.table === "busy") return WORK;
    if (isNamed(lane)) return partOf(lane).code;
    const id = name === NO_NAME && lane.label !== null ? (source.strings.idOf(lane.label) ?? NO_NAME) : name;
    if (highlight !== null && !(highlight.has(id) && isOn(filter, lane) && passes(duration))) return DIMMED;
    const key = `${lane.table} ${id}`;
    let hue = hues.get(key);
    if (hue === undefined) hues.set(key, (hue = colorOfEvent(lane.table, source.strings.textOf(id))));
    return hue;
  };
  const pixels = Math.max(1, Math.round(frame.width * frame.scale));
  return { view: frame.state.view, pixels, slices: source.slices, colorOf, wideFrom: MIN_LABEL_WIDTH * frame.scale };
}

function areaOf(
  frame: FrameInput, source: SceneSource, lane: LaneView, placed: Placement, top: number, height: number,
  scroll: number, x: Scale,
): Area {
  const empty = noStrips(lane.pixels);
  const lists = { labels: [], hatches: [], plots: [], separators: [], selected: [], marks: [] };
  const area: Area = { top, height, strips: empty, critical: empty, ...lists };
  const visible = placed.tracks.filter((t) => t.top + t.height > scroll && t.top < scroll + height);
  const rows: { track: PlacedTrack; y: number; lanes: Lane[]; top: number }[] = [];
  for (const track of visible) {
    const at = top + track.top - scroll;
    area.separators.push(at + track.height - 1);
    if (track.kind === "slices") {
      for (let y = 0; y < track.rows; y++)
        rows.push({ track, y, lanes: track.lanes.filter((l) => l.y === y), top: at + 1 + y * track.rowHeight });
    } else if (track.kind === "counter") {
      for (const l of track.lanes.filter(({ kind }) => kind === "value")) {
        area.plots.push(plotLane(l, frame.state.view, lane.pixels, at, track.rowHeight, source.values));
        addPeak(l, at, area, x, frame.width, source);
      }
    }
  }
  area.strips = {
    pixels: lane.pixels,
    tops: rows.map((row) => row.top),
    heights: rows.map((row) => Math.max(1, row.track.rowHeight - (row.track.rowHeight > COMPACT_ROW ? 1 : 0))),
    codes: new Uint8Array(rows.length * lane.pixels),
    shades: new Uint8Array(rows.length * lane.pixels),
  };
  const coverage = new Coverage(lane.pixels);
  rows.forEach((row, i) => {
    for (const l of row.lanes) {
      const wide: LabelledSlice[] = [];
      paintLane(l, lane, coverage, wide);
      if (row.track.rowHeight > 10 && !isNamed(l) && l.table !== "busy")
        addLabels(frame, source, l, wide, row.top + area.strips.heights[i]! / 2, area.labels);
      addMarks(frame, l, row.top, area.marks);
      addSelected(frame.state, l, row.top, area.strips.heights[i]!, area.selected, x);
    }
    coverage.take(area.strips.codes, area.strips.shades, i * lane.pixels);
    if (row.lanes.some(isNamed)) addCauses(frame, source, area, row, i);
  });
  const path = rows.map(({ track, y, top }, i) => {
    const lanes = frame.critical.filter((l) => l.track === track.track.id && l.y === y);
    return { lanes, top, height: area.strips.heights[i]! };
  });
  area.critical = pathBands(path, lane, coverage);
  return area;
}

function noStrips(pixels: number): Strips {
  return { pixels, tops: [], heights: [], codes: new Uint8Array(0), shades: new Uint8Array(0) };
}

function addLabels(
  frame: FrameInput, source: SceneSource, lane: Lane, wide: LabelledSlice[], middle: number, labels: Label[],
): void {
  for (const slice of wide) {
    const x = Math.max(0, slice.x / frame.scale);
    const width = Math.min(frame.width, (slice.x + slice.width) / frame.scale) - x;
    if (width < MIN_LABEL_WIDTH) continue;
    const name = slice.name === NO_NAME ? (lane.label ?? "") : source.strings.textOf(slice.name);
    const short = shortName(name);
    const more = slice.count > 1 ? ` +${slice.count - 1}` : "";
    const own: Span[] = [...ownParts(name), [short.length, short.length + more.length]];
    const text = source.fitter.fit(short + more, width - 6, own.filter(([from, to]) => from < to));
    if (text !== "") labels.push({ x: x + 3, y: middle, text, code: slice.code });
  }
}

type Row = { top: number; lanes: Lane[] };

const NAMED = new Set(["gap", "communication", "iteration"]);

/** Whether the lane is one part of what its track divides: a cause of idle time, exposed or hidden communication, a
    phase of engine steps. */
const isNamed = (lane: Lane): boolean => NAMED.has(lane.table);

function partOf({ table, label }: Lane): Cause {
  if (table === "gap") return causeOf(label ?? "");
  if (table === "iteration") return phaseOf(label ?? "");
  return { name: label ?? "", letter: "", code: label === "exposed" ? EXPOSED : HIDDEN };
}

/** Patterns and names of causes, over stretches of pixels with one cause, whose pieces are often many and short. */
function addCauses(frame: FrameInput, source: SceneSource, area: Area, row: Row, index: number): void {
  const { pixels, codes, shades, heights } = area.strips;
  const height = heights[index]!;
  const y = row.top + height / 2;
  const parts = new Map(row.lanes.filter(isNamed).map((lane) => [partOf(lane).code, partOf(lane)]));
  for (const [from, to, code] of runs(codes, shades, index * pixels, pixels)) {
    const x = from / frame.scale;
    const width = (to - from) / frame.scale;
    const part = parts.get(code);
    if (width < MIN_HATCH_WIDTH || part === undefined) continue;
    area.hatches.push({ x, y: row.top, width, height, code });
    const { name, letter } = part;
    const whole = width >= MIN_LABEL_WIDTH ? source.fitter.fit(name, width - 6) : "";
    const room = source.fitter.width(letter);
    if (whole.length > 2) area.labels.push({ x: x + 3, y, text: whole, code });
    else if (letter !== "" && width >= room + 3) area.labels.push({ x: x + (width - room) / 2, y, text: letter, code });
  }
}

type Run = [from: number, to: number, code: number];

/** Stretches of one colour that are mostly covered: [from, to, code]. */
export function runs(codes: Uint8Array, shades: Uint8Array, offset: number, length: number): Run[] {
  const out: Run[] = [];
  let from = 0;
  for (let x = 0; x <= length; x++) {
    const code = x < length && shades[offset + x]! >= MIN_COVERED_SHADE ? codes[offset + x]! & ~EDGE : NOTHING;
    const before = x > 0 && shades[offset + x - 1]! >= MIN_COVERED_SHADE ? codes[offset + x - 1]! & ~EDGE : NOTHING;
    if (code === before) continue;
    if (before !== NOTHING) out.push([from, x, before]);
    from = x;
  }
  return out;
}

/** At most one mark per pixel. */
function addMarks(frame: FrameInput, lane: Lane, top: number, marks: Area["marks"]): void {
  const starts = frame.state.found.marks?.get(lane.id);
  const { from, to } = frame.state.view;
  let last = -Infinity;
  for (let i = starts ? firstFrom(starts, from) : 0; starts && i < starts.length && starts[i]! <= to; i++) {
    const x = Math.round(((starts[i]! - from) / (to - from)) * frame.width);
    if (x > last) marks.push({ x, y: top });
    last = x;
  }
}

const WITH_PEAK = new Set(["memory allocated", "mem.used"]);
const AXIS = 64; // css pixels of the texts of a counter's axis

/** A mark at the first highest value of a memory counter, with the value. */
function addPeak(
  { peak, unit, label }: Lane, top: number, area: Area, x: Scale, width: number, source: SceneSource,
): void {
  if (peak === null || !WITH_PEAK.has(label ?? "") || peak[1] <= 0) return;
  const at = Math.round(x(peak[0]));
  if (at < 0 || at > width) return;
  const text = `peak ${amount(peak[1], unit)}`;
  const plate = source.fitter.width(text);
  const room = plate + 8;
  const left = at + room > width ? at - room : Math.max(at + 8, AXIS);
  area.marks.push({ x: at, y: top + 2 });
  area.labels.push({ x: left, y: top + 7, text, code: NOTHING, plate });
}

function addSelected({ selection }: State, lane: Lane, top: number, height: number, boxes: Box[], x: Scale): void {
  if (selection === null || selection.lane !== lane.id) return;
  const x0 = x(selection.from);
  const x1 = x(selection.to);
  boxes.push({ x: x1 - x0 < 3 ? (x0 + x1) / 2 - 1.5 : x0, y: top, width: Math.max(3, x1 - x0), height });
}

/** The y of the middle of a lane's row on the canvas; null if its track is not visible. */
export function laneMiddle(frame: FrameInput, lane: Lane, pinnedHeight: number): number | null {
  const isLanes = ({ track }: PlacedTrack) => track.id === lane.track;
  const pinned = frame.pinned.tracks.find(isLanes);
  const track = pinned ?? frame.rest.tracks.find(isLanes);
  if (!track) return null;
  const top = pinned ? HEAD : HEAD + pinnedHeight - frame.scroll;
  return top + track.top + 1 + (lane.y + 0.5) * track.rowHeight;
}

interface LanePoint {
  lane: Lane;
  time: number;
}

function linksOf({ links }: FrameInput, { lanes }: SceneSource): LanePoint[][] {
  return links.map((link) => link.flatMap(({ lane, time }) => (lanes[lane] ? [{ lane: lanes[lane], time }] : [])));
}

function arrowsOf(frame: FrameInput, links: readonly LanePoint[][], x: Scale, pinnedHeight: number): Arrow[] {
  const arrows: Arrow[] = [];
  for (const [from, to] of links) {
    if (!from || !to) continue;
    const y0 = laneMiddle(frame, from.lane, pinnedHeight);
    const y1 = laneMiddle(frame, to.lane, pinnedHeight);
    if (y0 !== null && y1 !== null) arrows.push({ x0: x(from.time), y0, x1: x(to.time), y1 });
  }
  return arrows;
}
