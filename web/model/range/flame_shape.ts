// What the reader chose about the flame graph, in a form that fits into an address and outlives a change of the range:
// frames by table and name, not as nodes of a tree. A box that the tree does not have any more is replaced by the
// innermost of its callers that it has.

import { frameKey, TIMES, type CallNode, type Time } from "./call_tree.ts";

export const FLAME_VIEWS = ["callees", "callers", "sandwich"] as const;
export type FlameView = (typeof FLAME_VIEWS)[number];

/** Keys of frames (call_tree.ts), from below the root to the box that is as wide as the picture. */
export type FramePath = readonly string[];

export interface FlameShape {
  time: Time;
  view: FlameView;
  python: boolean;
  about: string | null; // key of the function of the sandwich; null: the one with the most time
  zoom: FramePath;
  callersZoom: FramePath; // of the upper half of the sandwich
}

const NO_ZOOM = { zoom: [], callersZoom: [] };
export const WHOLE_FLAME: FlameShape = { time: "host", view: "callees", python: false, about: null, ...NO_ZOOM };

/** Each choice as text, for the address. */
export function flameTexts({ time, view, python, about, zoom, callersZoom }: FlameShape): string[] {
  const texts = time === WHOLE_FLAME.time ? [] : [`time:${time}`];
  if (view !== WHOLE_FLAME.view) texts.push(`view:${view}`);
  if (python) texts.push("python:1");
  if (about !== null) texts.push(`about:${about}`);
  return [...texts, ...zoom.map((key) => `in:${key}`), ...callersZoom.map((key) => `above:${key}`)];
}

export function readFlame(texts: readonly string[]): FlameShape {
  const of = (name: string): string[] =>
    texts.filter((text) => text.startsWith(`${name}:`)).map((text) => text.slice(name.length + 1));
  return {
    time: TIMES.find((time) => time === of("time")[0]) ?? WHOLE_FLAME.time,
    view: FLAME_VIEWS.find((view) => view === of("view")[0]) ?? WHOLE_FLAME.view,
    python: of("python")[0] === "1",
    about: of("about")[0] ?? null,
    zoom: of("in"),
    callersZoom: of("above"),
  };
}

/** The path from the root to a node. */
export function pathOf(node: CallNode): string[] {
  const path: string[] = [];
  for (let at = node; at.parent !== null; at = at.parent) path.unshift(frameKey(at));
  return path;
}

export function nodeAt(root: CallNode, path: FramePath): CallNode {
  let at = root;
  for (const key of path) {
    const child = at.children.get(key);
    if (child === undefined || child.total === 0) break;
    at = child;
  }
  return at;
}
