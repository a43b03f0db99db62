// What the page shows as text in the address, after #: everything needed to restore it, in the browser's history and in
// a copied link. The fields are declared in address_fields.ts; of two recordings, those of the side that is not shown
// have that side before the key (base.sel=kernel:3). The theme is the reader's choice. Unknown keys are ignored, so
// that a link from a newer viewer opens in an older one.

import { FIELDS, valueAt, type Change, type Field, type Link } from "./address_fields.ts";
import type { State } from "./state.ts";

export type { Link } from "./address_fields.ts";
export type Side = "base" | "new";

/** What the page shows: the state of the recording shown, and of the other one if two are compared. */
export interface Snapshot {
  side: Side; // shown
  shown: State;
  other: State | null;
}

/** What an address restores. */
export interface LinkedSides {
  side: Side;
  shown: Link;
  other: Link;
}

const otherSide = (side: Side): Side => (side === "base" ? "new" : "base");

/** Fields that follow from those of the side shown: both have one page, and aligned timelines one window. */
const isShared = ({ of }: Field, { page }: State): boolean => of === "page" || (of === "view" && page === "comparison");

/** A link to what is shown, which says what recording it is about. */
export const sharedLink = (snapshot: Snapshot, recording: string): string =>
  `${linkOf(snapshot)}&of=${encode(recording)}`;

/** The recording that a link is about; null: it does not say. */
export const recordingOf = (fragment: string): string | null =>
  readParts(fragment).get("of")?.at(-1) ?? null;

export function linkOf({ side, shown, other }: Snapshot): string {
  const parts = side === "base" ? ["side=base"] : [];
  const write = (prefix: string, fields: readonly Field[], state: State) => {
    for (const field of fields)
      for (const value of valuesOf(field, state)) parts.push(`${prefix}${field.key}=${encode(value)}`);
  };
  write("", FIELDS, shown);
  if (other !== null) write(`${otherSide(side)}.`, FIELDS.filter((field) => !isShared(field, shown)), other);
  return parts.join("&");
}

function valuesOf(field: Field, state: State): readonly string[] {
  const written = field.write(state) ?? [];
  return typeof written === "string" ? [written] : written;
}

function readParts(fragment: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at < 0) continue;
    const key = part.slice(0, at);
    values.set(key, [...(values.get(key) ?? []), decode(part.slice(at + 1))]);
  }
  return values;
}

export function readLink(fragment: string): LinkedSides {
  const values = readParts(fragment);
  const side: Side = values.get("side")?.at(-1) === "base" ? "base" : "new";
  const read = (prefix: string): Link =>
    Object.assign({}, ...FIELDS.map((field) => field.read(values.get(prefix + field.key) ?? [])));
  return { side, shown: read(""), other: read(`${otherSide(side)}.`) };
}

/** The strongest change of what the address holds, null if there is none, and the key of the changed text. */
export function changeBetween(before: Snapshot, now: Snapshot): { change: Change | null; text: string | null } {
  if (before.side !== now.side) return { change: "step", text: null };
  const others = before.other && now.other ? changedFields(before.other, now.other) : [];
  const changed = [...changedFields(before.shown, now.shown), ...others];
  const first = (change: Change) => changed.find((field) => field.change === change);
  const hasJumped = before.shown.jumps !== now.shown.jumps;
  const strongest = (["step", "text", "view"] as const).find(first) ?? null;
  return { change: hasJumped ? "step" : strongest, text: first("text")?.key ?? null };
}

function changedFields(before: State, now: State): Field[] {
  const touched = FIELDS.filter(({ of }) => of !== null && valueAt(before, of) !== valueAt(now, of));
  return touched.filter((field) => JSON.stringify(field.write(before)) !== JSON.stringify(field.write(now)));
}

/** Escapes only what would end a value, so that addresses stay readable. */
const encode = (value: string): string => encodeURIComponent(value).replace(/%(2C|3A|2F)/g, decodeURIComponent);

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
