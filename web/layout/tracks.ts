// Which tracks are visible, and where. Input: the tree of tracks and the user's changes to it. Output: two lists, the
// pinned tracks and the rest, each from top 0 downwards. A collapsed track hides the tracks below it; if it has rows
// itself, they are drawn a few pixels high.

import type { Lane, Track } from "../model/recording/manifest.ts";
import type { State } from "../model/page/state.ts";

export const ROW = 18; // height of a row of slices, css pixels
export const COMPACT_ROW = 4;
export const GROUP = 22; // a track without rows
export const COUNTER = 40;
const MARGIN = 4; // css pixels below a track
const MAX_COMPACT = 24;

export interface PlacedTrack {
  track: Track;
  depth: number;
  top: number;
  height: number;
  rows: number;
  rowHeight: number; // 0: no rows
  kind: "group" | "slices" | "counter";
  foldable: boolean;
  folded: boolean;
  pinned: boolean;
  lanes: Lane[];
}

export interface Placement {
  tracks: PlacedTrack[];
  height: number;
}

export type TrackChoice = Pick<State["timeline"], "collapsed" | "hidden" | "pinned" | "order" | "filter">;

export interface TrackTree {
  tracks: readonly Track[];
  childrenOf: readonly Track[][];
  lanesOf: readonly Lane[][];
}

export function placeTracks(tree: TrackTree, choice: TrackChoice): { pinned: Placement; rest: Placement } {
  const shown = shownTracks(tree, choice);
  const pinned: PlacedTrack[] = [];
  for (const id of choice.pinned) {
    const track = tree.tracks[id];
    if (track && !choice.hidden.has(id)) pinned.push(place(tree, choice, track, 0));
  }
  const others = shown.filter(({ track }) => !choice.pinned.includes(track.id));
  const rest = others.map(({ track, depth }) => place(tree, choice, track, depth));
  return { pinned: stack(pinned), rest: stack(rest) };
}

/** The tracks in display order, siblings sorted by `order`; tracks not in it come last. */
export function shownTracks(tree: TrackTree, choice: TrackChoice): { track: Track; depth: number }[] {
  const wanted = matching(tree, choice.filter);
  const rank = new Map(choice.order.map((id, at) => [id, at]));
  const rankOf = (track: Track) => rank.get(track.id) ?? choice.order.length;
  const sorted = (tracks: readonly Track[]) => [...tracks].sort((a, b) => rankOf(a) - rankOf(b) || a.id - b.id);
  const out: { track: Track; depth: number }[] = [];
  const walk = (track: Track, depth: number) => {
    if (choice.hidden.has(track.id) || !wanted(track)) return;
    out.push({ track, depth });
    if (choice.filter !== "" || !choice.collapsed.has(track.id))
      for (const child of sorted(tree.childrenOf[track.id]!)) walk(child, depth + 1);
  };
  for (const track of sorted(tree.tracks.filter((track) => track.parent < 0))) walk(track, 0);
  return out;
}

/** A track matches if its name, or that of an ancestor or descendant, contains the text. */
function matching(tree: TrackTree, filter: string): (track: Track) => boolean {
  const text = filter.trim().toLowerCase();
  if (text === "") return () => true;
  const hit = (track: Track) => track.name.toLowerCase().includes(text);
  const wanted = new Set<number>();
  for (const track of tree.tracks) if (hit(track) || wanted.has(track.parent)) wanted.add(track.id);
  for (const track of [...tree.tracks].reverse()) if (wanted.has(track.id)) wanted.add(track.parent);
  return (track) => wanted.has(track.id);
}

function place(tree: TrackTree, choice: TrackChoice, track: Track, depth: number): PlacedTrack {
  const lanes = tree.lanesOf[track.id]!;
  const rows = lanes.reduce((most, lane) => Math.max(most, lane.y + 1), 0);
  const children = tree.childrenOf[track.id]!.length;
  const kind = rows === 0 ? "group" : lanes.some((lane) => lane.kind === "value") ? "counter" : "slices";
  const foldable = children > 0 || (kind === "slices" && rows > 1);
  const folded = foldable && choice.collapsed.has(track.id);
  const sliceHeight = folded && children === 0 ? Math.min(COMPACT_ROW, Math.max(1, MAX_COMPACT / rows)) : ROW;
  const rowHeight = { group: 0, counter: COUNTER, slices: sliceHeight }[kind];
  const inner = kind === "slices" ? Math.max(rows * rowHeight, ROW) : rowHeight;
  const height = kind === "group" ? GROUP : inner + MARGIN;
  const pinned = choice.pinned.includes(track.id);
  return { track, depth, top: 0, height, rows, rowHeight, kind, foldable, folded, pinned, lanes };
}

function stack(tracks: PlacedTrack[]): Placement {
  let height = 0;
  for (const track of tracks) {
    track.top = height;
    height += track.height;
  }
  return { tracks, height };
}

/** The order after a track swaps places with the sibling `by` positions away; null if there is no such sibling. */
export function moved(tree: TrackTree, choice: TrackChoice, id: number, by: number): number[] | null {
  const track = tree.tracks[id];
  if (!track) return null;
  const all = [...new Set([...choice.order, ...tree.tracks.map((each) => each.id)])];
  const siblings = all.filter((other) => tree.tracks[other]?.parent === track.parent && !choice.hidden.has(other));
  const other = siblings[siblings.indexOf(id) + by];
  if (other === undefined) return null;
  all.splice(all.indexOf(id), 1);
  all.splice(all.indexOf(other) + (by > 0 ? 1 : 0), 0, id);
  return all;
}

/** The changes that make a track visible: ancestors unfolded, nothing hidden, no filter that excludes it. */
export function changesToReveal(tree: TrackTree, choice: TrackChoice, id: number): Partial<TrackChoice> {
  const chain: number[] = [];
  for (let at = id; at >= 0; at = tree.tracks[at]!.parent) chain.push(at);
  const change: { collapsed?: Set<number>; hidden?: Set<number>; filter?: string } = {};
  if (chain.slice(1).some((track) => choice.collapsed.has(track)))
    change.collapsed = without(choice.collapsed, chain.slice(1));
  if (chain.some((track) => choice.hidden.has(track))) change.hidden = without(choice.hidden, chain);
  if (choice.filter !== "" && !matching(tree, choice.filter)(tree.tracks[id]!)) change.filter = "";
  return change;
}

const without = (set: ReadonlySet<number>, gone: readonly number[]): Set<number> =>
  new Set([...set].filter((each) => !gone.includes(each)));

/** Tracks that start folded: Python calls and other deep ones, and the queues of streams. */
export function initiallyFolded(tree: TrackTree): Set<number> {
  const deep = (track: Track) => tree.lanesOf[track.id]!.reduce((most, lane) => Math.max(most, lane.y + 1), 0) > 12;
  const queue = (track: Track) => track.kind === "stream" && tree.childrenOf[track.id]!.length > 0;
  const folded = tree.tracks.filter((track) => track.kind === "python" || queue(track) || deep(track));
  return new Set(folded.map((track) => track.id));
}
