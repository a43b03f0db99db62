// The state as text in the address, after #: everything needed to restore the view. t=from-to in ns, m= the measured
// range, sel=table:row, pin=, fold=, hide=, order= track numbers, page=, table=, kernel=, launch= of a kernel with
// counters, sampled= of one with samples only, line=FILE:LINE in it, counters= the filter of its counters, path=1 if the critical path is marked, side=base and step= of a comparison. The theme is the reader's
// choice. rows.filter=, rows.sort=, rows.group= and rows.hide= are what was chosen about the table, by columns. rank=, jobstep=, cells= a quantity and rows= an order, of a job of many ranks. abs=from-to in ns of the recording's own
// clock is read only: what a job knows of one of its recordings. Unknown keys are ignored, so that a link from a newer viewer opens in an older one.

import { ROW_ORDERS, type RowOrder } from "./job_order.ts";
import type { Side } from "./workspace.ts";
import { PLAIN, type TableShape } from "./table_shape.ts";
import { PAGES, type PageName, type Range, type State, type TableChoice } from "./state.ts";

/** Former names of pages, so that links copied earlier still open. */
const FORMER_PAGES: Readonly<Record<string, PageName>> = { pictures: "charts" };

export interface Link {
  side?: Side;
  page?: PageName;
  view?: Range;
  range?: Range;
  selection?: { table: string; row: number };
  pinned?: number[];
  collapsed?: number[];
  hidden?: number[];
  order?: number[];
  filter?: string;
  table?: TableChoice;
  tableShape?: TableShape;
  kernel?: string;
  launch?: number;
  sampled?: string;
  line?: string;
  counterFilter?: string;
  criticalPath?: boolean;
  aligned?: number;
  jobRank?: number;
  jobStep?: number;
  quantity?: string;
  rowOrder?: RowOrder;
  absolute?: [from: bigint, to: bigint];
}

const rangeText = ({ from, to }: Range): string => `${Math.round(from)}-${Math.round(to)}`;

export function linkOf(state: State, side: Side = "new"): string {
  const parts = [...(side === "base" ? ["side=base"] : []), `page=${state.page}`, `t=${rangeText(state.view)}`];
  if (state.range) parts.push(`m=${rangeText(state.range)}`);
  if (state.selection) parts.push(`sel=${encodeURIComponent(state.selection.table)}:${state.selection.row}`);
  const lists: [string, Iterable<number>][] = [["pin", state.pinned], ["fold", state.collapsed], ["hide", state.hidden], ["order", state.order]];
  for (const [key, tracks] of lists) {
    const text = [...tracks].join(",");
    if (text !== "" || key === "fold") parts.push(`${key}=${text}`);
  }
  if (state.filter !== "") parts.push(`filter=${encodeURIComponent(state.filter)}`);
  if (state.table) parts.push(`table=${encodeURIComponent(state.table.name)}`);
  const { filter, sort, group, hidden } = state.tableShape;
  for (const [key, value] of [["filter", filter], ["sort", sort], ["group", group], ["hide", hidden.join(",")]]) if (value !== "") parts.push(`rows.${key}=${encodeURIComponent(value!)}`);
  if (state.kernel !== null) parts.push(`kernel=${encodeURIComponent(state.kernel)}`);
  if (state.launch !== null) parts.push(`launch=${state.launch}`);
  if (state.sampled !== null) parts.push(`sampled=${encodeURIComponent(state.sampled)}`);
  if (state.line !== null) parts.push(`line=${encodeURIComponent(state.line)}`);
  if (state.counterFilter !== "") parts.push(`counters=${encodeURIComponent(state.counterFilter)}`);
  if (state.criticalPath) parts.push("path=1");
  if (state.jobRank !== null) parts.push(`rank=${state.jobRank}`);
  if (state.jobStep !== null) parts.push(`jobstep=${state.jobStep}`);
  if (state.quantity !== null) parts.push(`cells=${encodeURIComponent(state.quantity)}`);
  if (state.rowOrder !== "rank") parts.push(`rows=${state.rowOrder}`);
  if (state.page === "comparison") parts.push(`step=${state.aligned}`);
  return parts.join("&");
}

export function readLink(fragment: string): Link {
  const link: Link = {};
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at < 0) continue;
    const value = decode(part.slice(at + 1));
    const range = /^(-?\d+)-(-?\d+)$/.exec(value);
    const row = /^(\w+):(\d+)$/.exec(value);
    const tracks = value.split(",").filter((id) => /^\d+$/.test(id)).map(Number);
    switch (part.slice(0, at)) {
      case "page":
        if ((PAGES as readonly string[]).includes(value)) link.page = value as PageName;
        else if (Object.hasOwn(FORMER_PAGES, value)) link.page = FORMER_PAGES[value]!;
        break;
      case "side":
        if (value === "base") link.side = value;
        break;
      case "t":
        if (range) link.view = { from: Number(range[1]), to: Number(range[2]) };
        break;
      case "m":
        if (range) link.range = { from: Number(range[1]), to: Number(range[2]) };
        break;
      case "sel":
        if (row) link.selection = { table: row[1]!, row: Number(row[2]) };
        break;
      case "pin":
        link.pinned = tracks;
        break;
      case "fold":
        link.collapsed = tracks;
        break;
      case "hide":
        link.hidden = tracks;
        break;
      case "order":
        link.order = tracks;
        break;
      case "filter":
        link.filter = value;
        break;
      case "table":
        link.table = { name: value, row: null };
        link.tableShape ??= PLAIN;
        break;
      case "rows.filter":
      case "rows.sort":
      case "rows.group":
        link.tableShape = { ...(link.tableShape ?? PLAIN), [part.slice("rows.".length, at)]: value };
        break;
      case "rows.hide":
        link.tableShape = { ...(link.tableShape ?? PLAIN), hidden: value.split(",").filter((name) => name !== "") };
        break;
      case "step":
        if (/^\d+$/.test(value)) link.aligned = Number(value);
        break;
      case "rank":
        if (/^\d+$/.test(value)) link.jobRank = Number(value);
        break;
      case "jobstep":
        if (/^-?\d+$/.test(value)) link.jobStep = Number(value);
        break;
      case "cells":
        link.quantity = value;
        break;
      case "rows":
        if ((ROW_ORDERS as readonly string[]).includes(value)) link.rowOrder = value as RowOrder;
        break;
      case "abs": {
        const [, from, to] = /^(-?\d{1,19})-(-?\d{1,19})$/.exec(value) ?? [];
        if (from !== undefined && to !== undefined) link.absolute = [BigInt(from), BigInt(to)];
        break;
      }
      case "path":
        link.criticalPath = value === "1";
        break;
      case "launch":
        if (/^\d+$/.test(value)) link.launch = Number(value);
        break;
      case "kernel":
        link.kernel = value;
        break;
      case "sampled":
        link.sampled = value;
        break;
      case "line":
        link.line = value;
        break;
      case "counters":
        link.counterFilter = value;
        break;
    }
  }
  return link;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
