// What the address of the page holds: one declaration per field, with its key, how it is written and read, and what a
// change of it means for the history. To add a field, add its value to the state and one line here.
//
// A value of several choices repeats its key, one choice each: show=filter:gemm&show=sort:-total_ns.
// t= and m= are ranges in ns, sel= is table:row, find= a search, names= highlighted names, pin=, fold=, hide= and
// order= are track numbers, line= is FILE:LINE. cells= and rows= are a quantity and an order of a job of many ranks,
// heat= is places of ranks and indices of steps. abs= is a range in ns of the recording's own clock: it is read only,
// since a job knows no other time of its recordings.

import { drawerTexts, readDrawer } from "../range/drawer.ts";
import { flameTexts, readFlame } from "../range/flame_shape.ts";
import { heatText, readHeat } from "../job/heat_window.ts";
import { keptText, readKept } from "../range/kept_ranges.ts";
import { ROW_ORDERS } from "../job/job_order.ts";
import { PLAIN, readShape, shapeTexts } from "../table/table_shape.ts";
import type { Range } from "../recording/range.ts";
import { PAGES, type PageName, type State, type StateChange } from "./state.ts";

/** Step: a new entry of the history. Text: one entry for what is typed without a pause. View: the entry changes. */
export type Change = "step" | "text" | "view";

/** The part of the state that an address restores. A selection is looked up in the recording first. */
export type Link = Partial<{ [P in Place]: At<P> } & { selection: EventAddress; absolute: [bigint, bigint] }>;

/** The name of a value of the state; of one of a page, PAGE.NAME. */
type OfPage<K> = K extends keyof State & PageName ? `${K}.${keyof State[K] & string}` : never;
export type Place = OfPage<PageName> | Exclude<keyof State, PageName | "selection">;
type At<P> = P extends `${infer K extends PageName & keyof State}.${infer V}` ? State[K][V & keyof State[K]]
  : State[P & keyof State];

export function valueAt(state: State, place: Place | "selection"): unknown {
  const [first, name] = place.split(".") as [keyof State, string?];
  return name === undefined ? state[first] : (state[first] as Record<string, unknown>)[name];
}

/** The change that makes the values of these places what is given. */
export function changeOf(values: Readonly<Record<string, unknown>>): StateChange {
  const change: Record<string, object | unknown> = {};
  for (const [place, value] of Object.entries(values)) {
    const [first, name] = place.split(".") as [string, string?];
    change[first] = name === undefined ? value : { ...(change[first] as object), [name]: value };
  }
  return change;
}

export interface EventAddress {
  table: string;
  row: number;
}

/** A value in the address; several repeat the key; null: the initial value, which is not written. */
export type Written = string | readonly string[] | null;

export interface Field {
  key: string;
  of: Place | "selection" | null; // null: read only
  change: Change;
  write(state: State): Written;
  /** Nothing if a value cannot be read. `values` has one for each time that the key occurs. */
  read(values: readonly string[]): Link;
}

type Read<K extends keyof Link> = (value: string, all: readonly string[]) => Link[K] | null;

function field<K extends Place | "selection">(
  key: string, of: K, change: Change, write: (value: At<K>) => Written, read: Read<K>,
): Field {
  return { key, of, change, write: (state) => write(valueAt(state, of) as At<K>), read: reader(of, read) };
}

function readOnly<K extends keyof Link>(key: string, of: K, read: Read<K>): Field {
  return { key, of: null, change: "view", write: () => null, read: reader(of, read) };
}

function reader<K extends keyof Link>(of: K, read: Read<K>): Field["read"] {
  return (values) => {
    const value = values.length === 0 ? null : read(values.at(-1)!, values);
    return value === null ? {} : { [of]: value };
  };
}

const text = (value: string): Written => (value === "" ? null : value);
const pair = ([a, b]: State["steps"]["compared"]): Written => (a === "fastest" && b === "slowest" ? null : `${a},${b}`);

function readPair(value: string): State["steps"]["compared"] | null {
  const [, a, b] = /^([\w-]+),([\w-]+)$/.exec(value) ?? [];
  return a === undefined || b === undefined ? null : [a, b];
}

const same = (value: string): string => value;
const number = (value: number | null): Written => (value === null ? null : String(value));
const toNumber = (value: string): number | null => (/^-?\d{1,15}$/.test(value) ? Number(value) : null);
const toCount = (value: string): number | null => (/^\d{1,15}$/.test(value) ? Number(value) : null);
const range = (value: Range | null): Written =>
  value === null ? null : `${Math.round(value.from)}-${Math.round(value.to)}`;
const toRange = (value: string): Range | null => {
  const [, from, to] = /^(-?\d+)-(-?\d+)$/.exec(value) ?? [];
  return from === undefined || to === undefined ? null : { from: Number(from), to: Number(to) };
};
const toTracks = (value: string): number[] => value.split(",").filter((id) => /^\d+$/.test(id)).map(Number);
const toSet = (value: string): Set<number> => new Set(toTracks(value));
const tracks = (value: Iterable<number>): string => [...value].join(",");
const tableText = (table: State["tables"]["table"]) =>
  table && table.name + (table.row === null ? "" : `:${table.row}`);
const toRowOrder = (value: string) => ROW_ORDERS.find((order) => order === value) ?? null;

/** Former names of pages, so that links copied earlier still open. */
const FORMER_PAGES: ReadonlyMap<string, PageName> = new Map([["pictures", "charts"]]);

const toPage = (value: string) => PAGES.find((page) => page === value) ?? FORMER_PAGES.get(value) ?? null;

export const FIELDS: readonly Field[] = [
  field("page", "page", "step", same, toPage),
  field("t", "view", "view", range, toRange),
  field("m", "range", "step", range, toRange),
  field("keep", "kept", "step", (kept) => text(keptText(kept)), readKept),
  field("sel", "selection", "step", (chosen) => chosen && `${chosen.table}:${chosen.row}`, (value) => {
    const [, table, row] = /^(\w+):(\d+)$/.exec(value) ?? [];
    return table === undefined ? null : { table, row: Number(row) };
  }),
  field("find", "search", "text", text, same),
  field("names", "highlighted", "step", (names) => names, (_, names) => names),
  field("pin", "timeline.pinned", "view", (ids) => text(tracks(ids)), toTracks),
  field("fold", "timeline.collapsed", "view", tracks, toSet), // empty is not the initial value
  field("hide", "timeline.hidden", "view", (ids) => text(tracks(ids)), toSet),
  field("order", "timeline.order", "view", (ids) => text(tracks(ids)), toTracks),
  field("filter", "timeline.filter", "text", text, same),
  field("track", "timeline.track", "step", (track) => track && String(track.id), (value) => {
    const id = toCount(value);
    return id === null ? null : { id };
  }),
  field("table", "tables.table", "step", tableText, (value) => {
    const [, name, row] = /^(.+?)(?::(\d+))?$/s.exec(value) ?? [];
    return name === undefined ? null : { name, row: row === undefined ? null : Number(row) };
  }),
  field("differences", "comparison.differences", "step", (name) => name, same),
  field("diffshow", "comparison.shape", "text", shapeTexts, (_, parts) => readShape(parts)),
  field("show", "tables.shape", "text", shapeTexts, (_, parts) => readShape(parts)),
  field("kernel", "charts.kernel", "step", (name) => name, same),
  field("launch", "kernels.launch", "step", number, toCount),
  field("sampled", "kernels.sampled", "step", (name) => name, same),
  field("line", "kernels.line", "step", (line) => line, same),
  readOnly("counters", "kernels.counters", (filter) => ({ ...PLAIN, filter })), // of links copied earlier
  field("countershow", "kernels.counters", "text", shapeTexts, (_, parts) => readShape(parts)),
  field("drawer", "drawer", "step", drawerTexts, (_, parts) => readDrawer(parts)),
  field("flame", "flame", "step", flameTexts, (_, parts) => readFlame(parts)),
  field("flamefind", "flameSearch", "text", text, same),
  field("path", "timeline.criticalPath", "step", (shown) => (shown ? "1" : null), (value) => value === "1"),
  field("launches", "timeline.launchArrows", "step", (shown) => (shown ? "1" : null), (value) => value === "1"),
  field("rank", "job.rank", "step", number, toCount),
  field("jobstep", "job.step", "step", number, toNumber),
  field("cells", "job.quantity", "step", (name) => name, same),
  field("rows", "job.order", "step", (order) => (order === "rank" ? null : order), toRowOrder),
  field("heat", "job.heat", "view", (window) => window && heatText(window), readHeat),
  field("beside", "steps.compared", "step", pair, readPair),
  field("own", "comparison.ownStep", "step", (key) => key, same),
  field("step", "comparison.aligned", "step", (pair) => (pair === 0 ? null : String(pair)), toCount),
  field("sql", "sql.text", "text", text, same),
  readOnly("abs", "absolute", (value) => {
    const [, from, to] = /^(-?\d{1,19})-(-?\d{1,19})$/.exec(value) ?? [];
    return from === undefined || to === undefined ? null : [BigInt(from), BigInt(to)];
  }),
];
