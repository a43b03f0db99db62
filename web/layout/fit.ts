// Text fitted to a width: unchanged, cut with an ellipsis, or empty. Widths come from the canvas through a function and
// are cached, because measuring text is the slowest part of a frame.

import type { Span } from "./short_name.ts";

export type MeasureText = (text: string) => number;

const ELLIPSIS = "…";
const FEW = 5; // characters of a start before what has to stay
const MAX_CACHED = 20_000;

export class Fitter {
  private readonly widths = new Map<string, number>();

  constructor(private readonly measure: MeasureText) {}

  width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      if (this.widths.size >= MAX_CACHED) this.widths.clear();
      width = this.measure(text);
      this.widths.set(text, width);
    }
    return width;
  }

  /** At least two characters before an ellipsis, or empty. What is between `own` places is cut first. */
  fit(text: string, room: number, own: readonly Span[] = []): string {
    const full = text.length > 300 ? text.slice(0, 300) : text;
    if (this.width(full) <= room) return full;
    const cut = own.length === 0 ? null : this.cutBetween(full, room, own);
    return cut ?? this.cutEnd(full, room);
  }

  private cutEnd(full: string, room: number): string {
    const [whole, ellipsis] = [this.width(full), this.width(ELLIPSIS)];
    let length = Math.min(full.length - 1, Math.floor(((room - ellipsis) / whole) * full.length) + 2);
    while (length >= 2 && this.width(full.slice(0, length)) + ellipsis > room) length--;
    return length >= 2 ? full.slice(0, length).trimEnd() + ELLIPSIS : "";
  }

  /** With the own places in full and as much of the others as fits, the first ones first; null if not even those fit,
      with a few letters before them. */
  private cutBetween(full: string, room: number, own: readonly Span[]): string | null {
    const others = [0, ...own.map(([, to]) => to)].map((from, i) => full.slice(from, own[i]?.[0]));
    const few = Math.min(others[0]!.length, FEW);
    const shown = others.map((_, i) => (i === 0 ? few : 0));
    const cut = (i: number) => {
      const other = others[i]!;
      return shown[i]! >= other.length ? other : other.slice(0, shown[i]) + ELLIPSIS;
    };
    const joined = () => others.map((_, i) => cut(i) + (own[i] ? full.slice(...own[i]!) : "")).join("");
    if (this.width(joined()) > room) {
      const rest = this.fit(full.slice(own[0]![0]), room - this.width(cut(0)));
      return rest === "" ? null : cut(0) + rest;
    }
    others.forEach((other, i) => {
      let [low, high] = [shown[i]!, other.length];
      while (low < high) {
        shown[i] = (low + high + 1) >> 1;
        if (this.width(joined()) <= room) low = shown[i]!;
        else high = shown[i]! - 1;
      }
      shown[i] = low;
    });
    return joined();
  }
}
