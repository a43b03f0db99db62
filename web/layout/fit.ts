// Text fitted to a width: unchanged, cut with an ellipsis, or empty. Widths come from the canvas through a function and
// are cached, because measuring text is the slowest part of a frame.

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

  /** At least two characters before an ellipsis, or empty. What is from `keep` on stays if the start can be cut
      instead. */
  fit(text: string, room: number, keep = 0): string {
    const full = text.length > 300 ? text.slice(0, 300) : text;
    const whole = this.width(full);
    if (whole <= room) return full;
    const ellipsis = this.width(ELLIPSIS);
    if (keep > 0 && keep < full.length) {
      const tail = ELLIPSIS + full.slice(keep);
      const start = this.fit(full.slice(0, keep - 1), room - this.width(tail) + ellipsis);
      if (start !== "") return start.replace(/…$/, "") + tail;
      const few = full.slice(0, Math.min(keep, FEW)) + ELLIPSIS;
      const rest = this.fit(full.slice(keep), room - this.width(few));
      if (rest !== "") return few + rest;
    }
    let length = Math.min(full.length - 1, Math.floor(((room - ellipsis) / whole) * full.length) + 2);
    while (length >= 2 && this.width(full.slice(0, length)) + ellipsis > room) length--;
    return length >= 2 ? full.slice(0, length).trimEnd() + ELLIPSIS : "";
  }
}
