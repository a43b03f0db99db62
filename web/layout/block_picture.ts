// Blocks of memory as a stack over time. Each column of the picture is one moment, that at which most is held in its
// time, so that no peak is missed. From below: memory without a known allocation, the largest blocks in order of
// allocation, and all smaller blocks as one layer, so that every column is as high as what is held then.

import { heldAt, siteKey, type Block, type DeviceBlocks } from "../model/recording/memory_blocks.ts";
import { firstAbove, firstFrom } from "../model/recording/slices.ts";
import type { Range } from "../model/recording/range.ts";

export interface BlockLayer {
  block: Block | null; // null: many, or none that is known
  name: string; // of a layer without a block
  key: string | null; // of its site; null: of many, or unknown
  first: number; // column
  low: number[]; // bytes below it, by column from `first`
  bytes: number[];
}

export interface BlockPicture {
  moments: number[]; // ns, by column
  held: number[];
  layers: BlockLayer[]; // the lowest first
  shown: number; // blocks with a layer of their own
}

export const OLDER = "no recorded allocation";
export const SMALLER = "smaller blocks";

export function blockPicture(memory: DeviceBlocks, range: Range, columns: number, most: number): BlockPicture {
  const moments = momentsOf(memory, range, columns);
  const held = moments.map((time) => heldAt(memory, time));
  const own = memory.isMatched ? largest(memory.blocks, range, most) : [];
  const layers = memory.isMatched ? ofBlocks(memory, own, moments, held) : ofCategories(memory, moments, held);
  return { moments, held, layers, shown: own.length };
}

function momentsOf({ times, held }: DeviceBlocks, { from, to }: Range, columns: number): number[] {
  return Array.from({ length: columns }, (_, column) => {
    const edge = (at: number) => Math.floor(from + ((to - from) * at) / columns);
    const [begin, end] = [edge(column), edge(column + 1)];
    let best = begin;
    let most = heldAt({ times, held }, begin);
    for (let i = firstFrom(times, begin); i < times.length && times[i]! < end; i++)
      if (held[i]! > most) [best, most] = [times[i]!, held[i]!];
    return best;
  });
}

/** The blocks that take most room in the picture, in order of allocation. */
function largest(blocks: readonly Block[], { from, to }: Range, most: number): Block[] {
  const area = (block: Block) => block.bytes * Math.max(0, Math.min(block.to, to) - Math.max(block.from, from));
  const seen = blocks.map((block) => [area(block), block] as const).filter(([size]) => size > 0);
  return seen.sort(([a], [b]) => b - a).slice(0, most).map(([, block]) => block).sort((a, b) => a.row - b.row);
}

/** Bytes of all blocks that are live at each of the times. */
function liveAt(blocks: readonly Block[], moments: readonly number[]): number[] {
  const sums = (ordered: Block[]) => {
    let sum = 0;
    return ordered.map(({ bytes }) => (sum += bytes));
  };
  const made = blocks.slice().sort((a, b) => a.from - b.from);
  const gone = blocks.slice().sort((a, b) => a.to - b.to);
  const [madeSums, goneSums] = [sums(made), sums(gone)];
  const [starts, ends] = [made.map(({ from }) => from), gone.map(({ to }) => to)].map((at) => Float64Array.from(at));
  return moments.map((time) => {
    const [begun, ended] = [firstAbove(starts!, time), firstAbove(ends!, time)];
    return (begun > 0 ? madeSums[begun - 1]! : 0) - (ended > 0 ? goneSums[ended - 1]! : 0);
  });
}

function ofBlocks(
  memory: DeviceBlocks, own: readonly Block[], moments: readonly number[], held: readonly number[],
): BlockLayer[] {
  const known = liveAt(memory.blocks, moments);
  const shown = liveAt(own, moments);
  const layers = [layer(OLDER, held.map((bytes, i) => Math.max(0, bytes - known[i]!)))];
  const height = layers[0]!.bytes.slice();
  for (const block of own) {
    const times = Float64Array.from(moments);
    const [first, end] = [firstFrom(times, block.from), firstFrom(times, block.to)];
    if (first >= end) continue;
    const low = height.slice(first, end);
    for (let i = first; i < end; i++) height[i]! += block.bytes;
    layers.push({ block, name: "", key: siteKey(block), first, low, bytes: low.map(() => block.bytes) });
  }
  const small = layer(SMALLER, known.map((bytes, i) => bytes - shown[i]!));
  small.low = height;
  return [...layers, small].filter(({ bytes }) => bytes.some((each) => each > 0));
}

/** A layer for each category, as far as its changes add up to something. */
function ofCategories({ blocks }: DeviceBlocks, moments: readonly number[], held: readonly number[]): BlockLayer[] {
  const layers = new Map<string, BlockLayer>();
  const sums = new Map<string, number>();
  let next = 0;
  moments.forEach((time, column) => {
    for (; next < blocks.length && blocks[next]!.from <= time; next++) {
      const key = siteKey(blocks[next]!);
      sums.set(key, (sums.get(key) ?? 0) + blocks[next]!.bytes);
      if (!layers.has(key)) layers.set(key, layer(blocks[next]!.owner ?? "no category", moments.map(() => 0), key));
    }
    for (const [key, sum] of sums) layers.get(key)!.bytes[column] = Math.max(0, sum);
  });
  const order = [...layers.values()].sort((a, b) => Math.max(...b.bytes) - Math.max(...a.bytes));
  const height = held.map(() => 0);
  for (const each of order) {
    each.low = height.slice();
    each.bytes.forEach((bytes, i) => (height[i]! += bytes));
  }
  return order;
}

const layer = (name: string, bytes: number[], key: string | null = null): BlockLayer =>
  ({ block: null, name, key, first: 0, low: bytes.map(() => 0), bytes });

/** The outline of a layer: along the top, and back along the bottom. */
export function outline(
  { first, low, bytes }: BlockLayer, x: (column: number) => number, y: (bytes: number) => number,
): string {
  const at = (value: number) => value.toFixed(1);
  let there = "";
  let back = "";
  let [lastTop, lastLow] = ["", ""];
  low.forEach((below, i) => {
    const [top, bottom] = [at(y(below + bytes[i]!)), at(y(below))];
    if (top !== lastTop) there += i === 0 ? `M${at(x(first))} ${top}` : `H${at(x(first + i))}V${top}`;
    if (i === 0) back = `H${at(x(first))}Z`;
    else if (bottom !== lastLow) back = `H${at(x(first + i))}V${lastLow}${back}`;
    [lastTop, lastLow] = [top, bottom];
  });
  return low.length === 0 ? "" : `${there}H${at(x(first + low.length))}V${lastLow}${back}`;
}

/** The layer at a point of a column. */
export function layerAt({ layers }: BlockPicture, column: number, bytes: number): BlockLayer | null {
  return layers.find(({ first, low, bytes: own }) => {
    const i = column - first;
    return i >= 0 && i < low.length && bytes >= low[i]! && bytes < low[i]! + own[i]!;
  }) ?? null;
}
