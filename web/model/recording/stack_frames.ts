// The frames of call stacks in a document: an event's name below the frame of the event that encloses it on its thread.
// Device work is below the call that submitted it, idle time below what its thread was in. A document without frames
// (made for a test) has one per name, without a parent, added when it is first met.

import type { Payload } from "../../read/payload.ts";
import { plainName } from "./plain_name.ts";
import { numbers } from "./slices.ts";

export const NO_FRAME = -1;

export interface Frame {
  id: number;
  parent: number; // NO_FRAME: none
  table: string; // of its events; "": a thread
  name: string;
}

/** At `time` an event moves to another frame: what it started in has ended. */
export interface FrameCut {
  time: number;
  frame: number;
}

/** By lane, then by row. */
export type FrameCuts = ReadonlyMap<number, ReadonlyMap<number, readonly FrameCut[]>>;

export class Frames {
  private readonly roots = new Map<string, number>();

  constructor(private readonly frames: Frame[] = []) {}

  get size(): number {
    return this.frames.length;
  }

  at(id: number): Frame {
    return this.frames[id]!;
  }

  /** The frame of events of a table that have a name and no known stack. */
  root(table: string, name: string): number {
    const plain = plainName(name);
    const key = `${table} ${plain}`;
    let id = this.roots.get(key);
    if (id === undefined) {
      this.roots.set(key, (id = this.frames.length));
      this.frames.push({ id, parent: NO_FRAME, table, name: plain });
    }
    return id;
  }

  /** The name of the thread that an event ran on, or that submitted it; "" if unknown. */
  threadOf(id: number): string {
    const [outermost] = this.stack(id);
    return outermost!.table === "" ? outermost!.name : "";
  }

  /** Whether no enclosing frame is of the same function. */
  isOutermost(id: number): boolean {
    const { table, name, parent } = this.at(id);
    for (let above = parent; above !== NO_FRAME; above = this.at(above).parent) {
      const each = this.at(above);
      if (each.name === name && each.table === table) return false;
    }
    return true;
  }

  /** From the outermost frame to this one. */
  stack(id: number): Frame[] {
    const stack: Frame[] = [];
    for (let at = id; at !== NO_FRAME; at = this.at(at).parent) stack.push(this.at(at));
    return stack.reverse();
  }
}

/** Frames whose parent is not an earlier frame are the outermost, so that no document makes an endless stack. */
export function readFrames(payload: Payload): Frames {
  const { rows, columns } = payload;
  const parents = numbers(columns.get("parent"), rows, NO_FRAME);
  const text = (column: string, row: number) => String(columns.get(column)?.value(row) ?? "");
  const parentOf = (id: number) =>
    Number.isInteger(parents[id]) && parents[id]! >= 0 && parents[id]! < id ? parents[id]! : NO_FRAME;
  const frame = (id: number) => ({ id, parent: parentOf(id), table: text("table", id), name: text("name", id) });
  return new Frames(Array.from({ length: rows }, (_, id) => frame(id)));
}

/** Cuts to frames that do not exist are omitted. */
export function readCuts({ rows, columns }: Payload, frames: number): FrameCuts {
  const column = (name: string) => numbers(columns.get(name), rows, NaN);
  const [lanes, row, time, frame] = ["lane", "row", "time", "frame"].map(column);
  const cuts = new Map<number, Map<number, FrameCut[]>>();
  for (let i = 0; i < rows; i++) {
    if (!(frame![i]! >= 0 && frame![i]! < frames)) continue;
    const ofLane = cuts.get(lanes![i]!) ?? new Map<number, FrameCut[]>();
    cuts.set(lanes![i]!, ofLane);
    const own = ofLane.get(row![i]!) ?? [];
    ofLane.set(row![i]!, own);
    own.push({ time: time![i]!, frame: frame![i]! });
  }
  return cuts;
}
