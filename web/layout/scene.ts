// One frame: state, placed tracks, scroll position and size become a display list. Pure: chunks come through functions
// that return at once, text widths through a Fitter. No drawing or waiting happens here.

import type { Lane } from "../model/manifest.ts";
import { firstFrom, NO_NAME, type Slices } from "../model/slices.ts";
import type { Range, State } from "../model/state.ts";
import type { Strings } from "../model/strings.ts";
import type { Values } from "../model/values.ts";
import { causeOf, DIMMED, EDGE, hueOf, NOTHING, WORK } from "./colors.ts";
import { Coverage } from "./coverage.ts";
import type { Area, Arrow, Box, Busy, Label, Scene, Strips } from "./display.ts";
import type { Fitter } from "./fit.ts";
import { paintLane, type LaneView, type Wide } from "./lane_slices.ts";
import { plotLane } from "./lane_values.ts";
import { shortName } from "./short_name.ts";
import { ticksOf } from "./ticks.ts";
import { duration, moment } from "./time_text.ts";
import { COMPACT_ROW, type Placement, type PlacedTrack } from "./tracks.ts";

export const MINIMAP = 26;
export const RULER = 26;
export const HEAD = MINIMAP + RULER;
const LABEL_FROM = 22; // minimum width in css pixels of a slice with a label
const HATCH_FROM = 6;
const MOSTLY = 160; // minimum shade of a pixel that counts as covered

export interface Look {
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
  links: { lane: number; time: number }[][]; // arrows for the selection: from, to
}

export interface Sight {
  strings: Strings;
  lanes: readonly Lane[];
  slices: (blob: number) => Slices | null;
  values: (blob: number) => Values | null;
  fitter: Fitter;
}

export function sceneOf(look: Look, sight: Sight): Scene {
  const { state, width, height } = look;
  const { view } = state;
  const x = (time: number) => ((time - view.from) / (view.to - view.from)) * width;
  const ticks = ticksOf(view, width);
  const pinnedHeight = Math.min(look.pinned.height, Math.max(0, (height - HEAD) / 2));
  const lane = laneView(look, sight);
  const pinned = areaOf(look, sight, lane, look.pinned, HEAD, pinnedHeight, 0, x);
  const rest = areaOf(look, sight, lane, look.rest, HEAD + pinnedHeight, height - HEAD - pinnedHeight, look.scroll, x);
  const { range } = state;
  return {
    width,
    height,
    scale: look.scale,
    minimap: { top: 0, height: MINIMAP, busy: busyOf(look), from: (view.from / look.length) * width, to: (view.to / look.length) * width },
    ruler: { top: MINIMAP, height: RULER, base: ticks.base, ticks: ticks.ticks.filter(({ at }) => at >= 0 && at <= look.length).map((tick) => ({ ...tick, x: x(tick.at) })) },
    areas: [pinned, rest],
    range: range && { x0: x(range.from), x1: x(range.to), text: duration(range.to - range.from) },
    cursor: look.cursor === null ? null : { x: look.cursor, text: cursorText(look, look.cursor, ticks.step) },
    arrows: arrowsOf(look, sight.lanes, x, pinnedHeight),
  };
}

/** The shares cover a part of the recording; outside it the strip is empty. */
function busyOf({ busy, length, width }: Look): Busy | null {
  return busy && { shares: busy.shares, x0: (busy.range.from / length) * width, x1: (busy.range.to / length) * width };
}

function cursorText({ state: { view }, length, width }: Look, cursor: number, step: number): string {
  const time = Math.round(view.from + (cursor / width) * (view.to - view.from));
  if (time < 0) return "before the recording";
  return time > length ? "after the recording" : moment(time, Math.max(1, step / 100));
}

/** The current colours of lanes, cached per frame because a lane needs them for every slice. */
function laneView(look: Look, sight: Sight): LaneView {
  const { highlight } = look.state;
  const causes = highlight !== null && sight.lanes.some((lane) => lane.table === "gap" && lane.label !== null && highlight.has(sight.strings.idOf(lane.label)!));
  const hues = new Map<number, number>();
  const colorOf = (lane: Lane, name: number): number => {
    if (lane.table === "gap" && lane.label !== null) return causes && !highlight!.has(sight.strings.idOf(lane.label)!) ? DIMMED : causeOf(lane.label).code;
    if (lane.table === "busy") return WORK;
    const id = name === NO_NAME && lane.label !== null ? (sight.strings.idOf(lane.label) ?? NO_NAME) : name;
    if (highlight !== null && !highlight.has(id)) return DIMMED;
    let hue = hues.get(id);
    if (hue === undefined) hues.set(id, (hue = hueOf(sight.strings.textOf(id))));
    return hue;
  };
  const pixels = Math.max(1, Math.round(look.width * look.scale));
  return { view: look.state.view, pixels, slices: sight.slices, colorOf, wideFrom: LABEL_FROM * look.scale };
}

function areaOf(look: Look, sight: Sight, lane: LaneView, placed: Placement, top: number, height: number, scroll: number, x: (time: number) => number): Area {
  const area: Area = { top, height, strips: noStrips(lane.pixels), labels: [], hatches: [], plots: [], separators: [], selected: [], marks: [] };
  const visible = placed.tracks.filter((t) => t.top + t.height > scroll && t.top < scroll + height);
  const rows: { track: PlacedTrack; y: number; lanes: Lane[]; top: number }[] = [];
  for (const track of visible) {
    const at = top + track.top - scroll;
    area.separators.push(at + track.height - 1);
    if (track.kind === "slices") {
      for (let y = 0; y < track.rows; y++) rows.push({ track, y, lanes: track.lanes.filter((l) => l.y === y), top: at + 1 + y * track.rowHeight });
    } else if (track.kind === "counter") {
      for (const l of track.lanes) if (l.kind === "value") area.plots.push(plotLane(l, look.state.view, lane.pixels, at, track.rowHeight, sight.values));
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
      const wide: Wide[] = [];
      paintLane(l, lane, coverage, wide);
      if (row.track.rowHeight > 10 && l.table !== "gap" && l.table !== "busy") addLabels(look, sight, l, wide, row.top + area.strips.heights[i]! / 2, area.labels);
      addMarks(look, l, row.top, area.marks);
      addSelected(look.state, l, row.top, area.strips.heights[i]!, area.selected, x);
    }
    coverage.take(area.strips.codes, area.strips.shades, i * lane.pixels);
    if (row.lanes.some((l) => l.table === "gap")) addCauses(look, sight, area, row, i);
  });
  return area;
}

function noStrips(pixels: number): Strips {
  return { pixels, tops: [], heights: [], codes: new Uint8Array(0), shades: new Uint8Array(0) };
}

function addLabels(look: Look, sight: Sight, lane: Lane, wide: Wide[], middle: number, labels: Label[]): void {
  for (const slice of wide) {
    const x = Math.max(0, slice.x / look.scale);
    const width = Math.min(look.width, (slice.x + slice.width) / look.scale) - x;
    if (width < LABEL_FROM) continue;
    const name = slice.name === NO_NAME ? (lane.label ?? "") : sight.strings.textOf(slice.name);
    const long = slice.count > 1 ? `${shortName(name)} +${slice.count - 1}` : shortName(name);
    const text = sight.fitter.fit(long, width - 6);
    if (text !== "") labels.push({ x: x + 3, y: middle, text, code: slice.code });
  }
}

/** Patterns and names of causes, over stretches of pixels with one cause, whose pieces are often many and short. */
function addCauses(look: Look, sight: Sight, area: Area, row: { top: number; lanes: Lane[] }, index: number): void {
  const { pixels, codes, shades, heights } = area.strips;
  const height = heights[index]!;
  const y = row.top + height / 2;
  const names = new Map(row.lanes.map((lane) => [causeOf(lane.label ?? "").code, lane.label ?? ""]));
  for (const [from, to, code] of runs(codes, shades, index * pixels, pixels)) {
    const x = from / look.scale;
    const width = (to - from) / look.scale;
    const name = names.get(code);
    if (width < HATCH_FROM || name === undefined) continue;
    area.hatches.push({ x, y: row.top, width, height, code });
    const { letter } = causeOf(name);
    const whole = width >= LABEL_FROM ? sight.fitter.fit(name, width - 6) : "";
    const room = sight.fitter.width(letter);
    if (whole.length > 2) area.labels.push({ x: x + 3, y, text: whole, code });
    else if (width >= room + 3) area.labels.push({ x: x + (width - room) / 2, y, text: letter, code });
  }
}

/** Stretches of one colour that are mostly covered: [from, to, code]. */
export function runs(codes: Uint8Array, shades: Uint8Array, offset: number, length: number): [number, number, number][] {
  const out: [number, number, number][] = [];
  let from = 0;
  for (let x = 0; x <= length; x++) {
    const code = x < length && shades[offset + x]! >= MOSTLY ? codes[offset + x]! & ~EDGE : NOTHING;
    const before = x > 0 && shades[offset + x - 1]! >= MOSTLY ? codes[offset + x - 1]! & ~EDGE : NOTHING;
    if (code === before) continue;
    if (before !== NOTHING) out.push([from, x, before]);
    from = x;
  }
  return out;
}

/** At most one mark per pixel. */
function addMarks(look: Look, lane: Lane, top: number, marks: Area["marks"]): void {
  const starts = look.state.marks?.get(lane.id);
  const { from, to } = look.state.view;
  let last = -Infinity;
  for (let i = starts ? firstFrom(starts, from) : 0; starts && i < starts.length && starts[i]! <= to; i++) {
    const x = Math.round(((starts[i]! - from) / (to - from)) * look.width);
    if (x > last) marks.push({ x, y: top });
    last = x;
  }
}

function addSelected(state: State, lane: Lane, top: number, height: number, boxes: Box[], x: (time: number) => number): void {
  const { selection } = state;
  if (selection === null || selection.lane !== lane.id) return;
  const x0 = x(selection.from);
  const x1 = x(selection.to);
  boxes.push({ x: x1 - x0 < 3 ? (x0 + x1) / 2 - 1.5 : x0, y: top, width: Math.max(3, x1 - x0), height });
}

/** The y of the middle of a lane's row on the canvas; null if its track is not visible. */
export function laneMiddle(look: Pick<Look, "pinned" | "rest" | "scroll">, lane: Lane, pinnedHeight: number): number | null {
  for (const [placed, top, scroll] of [[look.pinned, HEAD, 0], [look.rest, HEAD + pinnedHeight, look.scroll]] as const) {
    const track = placed.tracks.find((t) => t.track.id === lane.track);
    if (track) return top + track.top - scroll + 1 + (lane.y + 0.5) * track.rowHeight;
  }
  return null;
}

function arrowsOf(look: Look, lanes: readonly Lane[], x: (time: number) => number, pinnedHeight: number): Arrow[] {
  const arrows: Arrow[] = [];
  for (const [from, to] of look.links) {
    const a = from && lanes[from.lane];
    const b = to && lanes[to.lane];
    if (!a || !b) continue;
    const y0 = laneMiddle(look, a, pinnedHeight);
    const y1 = laneMiddle(look, b, pinnedHeight);
    if (y0 !== null && y1 !== null) arrows.push({ x0: x(from.time), y0, x1: x(to.time), y1 });
  }
  return arrows;
}
