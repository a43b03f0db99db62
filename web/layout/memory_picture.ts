// The memory chart as boxes and links at fixed places of a 1040 x 370 picture: multiprocessors, L1 and shared memory,
// L2, device memory. A link is as wide as the square root of its share of the largest traffic; one without traffic is
// dashed.

import {
  SECTOR, type MemoryChart, type MemoryUnit, type Traffic, type UnitName,
} from "../model/kernel/memory_chart.ts";
import { pct } from "./cell_text.ts";
import { amount, grouped, plural } from "./time_text.ts";

export const WIDTH = 1040;
export const HEIGHT = 370;

export interface Box {
  name: string;
  x: number;
  y: number;
  width: number;
  height: number;
  lines: string[];
  busy_pct: number | null;
  isLimit: boolean;
}

export interface Link {
  name: string;
  from: number; // x; the arrow points to `to`
  to: number;
  bothWays: boolean;
  y: number;
  width: number; // of the line
  isEmpty: boolean;
  above: string;
  below: string;
}

export interface MemoryPicture {
  boxes: Box[];
  links: Link[];
}

const BOX = 140;
const LEFT = { x: 0, width: BOX }; // multiprocessors
const X: Record<UnitName, number> = { L1: 340, L2: 620, DRAM: 900 };
const NAMES: Record<UnitName, string> = { L1: "L1 cache", L2: "L2 cache", DRAM: "Device memory" };
const TOP = { y: 4, height: 250 };
const SHARED = { y: 282, height: 82 };
const ROWS = [38, 106, 174, 226]; // y of the links between multiprocessors and L1
const THIN = 1.5;
const THICK = 9;

/** `limit`: of the kernel, as in the analysis `limits`. */
export function memoryPicture(chart: MemoryChart, limit: string): MemoryPicture {
  const box = (unit: UnitName): Box => {
    const found = chart.units[unit];
    const place = { x: X[unit], width: BOX, ...TOP };
    const isLimit = limit === `${unit}-bound`;
    return { name: NAMES[unit], ...place, lines: linesOf(found), busy_pct: found.busy_pct, isLimit };
  };
  const all = { ...LEFT, y: TOP.y, height: SHARED.y + SHARED.height - TOP.y };
  const isComputeBound = limit === "compute-bound";
  const shared = chart.shared_bytes === null ? [] : [`${amount(chart.shared_bytes, "bytes")} per block`];
  const boxes: Box[] = [
    { name: "Multiprocessors", ...all, lines: ["registers"], busy_pct: null, isLimit: isComputeBound },
    box("L1"),
    { name: "Shared memory", x: X.L1, width: BOX, ...SHARED, lines: shared, busy_pct: null, isLimit: false },
    box("L2"),
    box("DRAM"),
  ];
  return { boxes, links: linksOf(chart) };
}

function linesOf({ hit_pct, busy_pct, bytes_per_s }: MemoryUnit): string[] {
  return [
    ...(hit_pct === null ? [] : [`${pct(hit_pct)} hit rate`]),
    ...(bytes_per_s === null ? [] : [amount(bytes_per_s, "byte/s")]),
    ...(busy_pct === null ? [] : [`${pct(busy_pct)} of peak`]),
  ];
}

function linksOf(chart: MemoryChart): Link[] {
  const [registers, l1] = [LEFT.x + LEFT.width, X.L1];
  const l1End = X.L1 + BOX;
  const l2End = X.L2 + BOX;
  const sized = [chart.loads, chart.stores, chart.local, chart.requested, chart.read, chart.written];
  const most = Math.max(1, ...sized.map((each) => each?.bytes ?? 0));
  const links: Link[] = [];
  type Rest = { below?: string; bothWays?: boolean; noun?: string };
  const add = (name: string, traffic: Traffic | null, from: number, to: number, y: number, rest: Rest = {}) => {
    if (traffic === null) return;
    const { below = "", bothWays = false, noun = "request" } = rest;
    const isEmpty = (traffic.bytes ?? traffic.count ?? 0) === 0;
    const width = traffic.bytes === null ? THIN : THIN + (THICK - THIN) * Math.sqrt(traffic.bytes / most);
    const above = `${name}: ${amountOf(traffic, noun)}`;
    links.push({ name, from, to, bothWays, y, width, isEmpty, above, below: isEmpty ? "" : below });
  };
  const sharedY = SHARED.y + SHARED.height / 2;
  add("loads", chart.loads, l1, registers, ROWS[0]!, { below: perRequest(chart.loads) });
  add("stores", chart.stores, registers, l1, ROWS[1]!, { below: perRequest(chart.stores) });
  add("atomics", chart.atomics, registers, l1, ROWS[2]!, { bothWays: true });
  add("local memory", chart.local, registers, l1, ROWS[3]!, { bothWays: true });
  add("shared", chart.shared, registers, l1, sharedY, { below: conflictsOf(chart), bothWays: true, noun: "pass" });
  add("requests", chart.requested, l1End, X.L2, (TOP.y + TOP.height) / 2, { bothWays: true });
  add("read", chart.read, X.DRAM, l2End, ROWS[1]! - 16);
  add("written", chart.written, l2End, X.DRAM, ROWS[2]! - 16);
  return links;
}

/** `noun`: what is counted, if bytes are not. */
function amountOf({ bytes, count }: Traffic, noun: string): string {
  if ((bytes ?? count) === 0) return "none";
  return bytes !== null ? amount(bytes, "bytes") : plural(count!, noun);
}

function perRequest(traffic: Traffic | null): string {
  if (traffic === null || traffic.bytes === null || !traffic.count) return "";
  return `${(traffic.bytes / SECTOR / traffic.count).toFixed(1)} sectors per request`;
}

function conflictsOf({ conflicts }: MemoryChart): string {
  if (conflicts === null) return "";
  return conflicts === 0 ? "no bank conflicts" : `${grouped(conflicts)} by bank conflicts`;
}

/** The picture in words. */
export function describe({ boxes, links }: MemoryPicture): string {
  const boxText = ({ name, lines, isLimit }: Box) =>
    `${name}${isLimit ? " (limits the kernel)" : ""}: ${lines.join(", ")}`;
  const linkText = ({ above, below }: Link) => (below === "" ? above : `${above}, ${below}`);
  return [...boxes.map(boxText), ...links.map(linkText)].join(". ");
}
