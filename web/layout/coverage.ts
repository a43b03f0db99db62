// A row of slices as pixels. Each device pixel gathers the share of its time that events cover and the colour of the
// slice that covers most of it. What is shown follows the share, with three promises: a pixel with an event is never
// blank, an almost idle one looks almost idle, and one that is not covered throughout never looks full.

import { EDGE, NOTHING } from "./colors.ts";

const LEAST = 0.16; // shown of a pixel with any event
const MOST = 0.9; // shown of a pixel that is not covered throughout
const FULL = 0.9995;
const EDGE_WIDTH = 4; // device pixels from which a slice has a darker first pixel

/** What is drawn of a share of covered time, 0 to 255. */
export function shade(share: number, touched: boolean): number {
  if (share >= FULL) return 255;
  if (share <= 0 && !touched) return 0;
  return Math.round(255 * (LEAST + (MOST - LEAST) * Math.max(0, share)));
}

export class Coverage {
  private readonly share: Float32Array;
  private readonly most: Float32Array;
  private readonly code: Uint8Array;
  private empty = true;

  constructor(readonly width: number) {
    this.share = new Float32Array(width);
    this.most = new Float32Array(width);
    this.code = new Uint8Array(width);
  }

  /** A slice from x0 to x1 (device pixels), of which `density` (0 to 1) is covered. */
  add(x0: number, x1: number, density: number, code: number): void {
    const from = Math.max(x0, 0);
    const to = Math.min(x1, this.width);
    if (to < from || from >= this.width || x1 < 0) return;
    this.empty = false;
    const first = Math.floor(from);
    const last = Math.min(Math.floor(to), this.width - 1);
    if (first >= last) return this.put(first, (to - from) * density, code);
    this.put(first, (first + 1 - from) * density, code);
    for (let x = first + 1; x < last; x++) this.put(x, density, code);
    if (to > last) this.put(last, (to - last) * density, code);
    if (x1 - x0 >= EDGE_WIDTH && x0 >= 0) {
      const edge = from - first > 0.5 ? first + 1 : first;
      this.code[edge] = this.code[edge]! | EDGE;
    }
  }

  /** Writes the row into `codes` and `shades` at an offset and is empty again. */
  take(codes: Uint8Array, shades: Uint8Array, offset: number): void {
    if (this.empty) return;
    for (let x = 0; x < this.width; x++) {
      const code = this.code[x]!;
      if (code === NOTHING) continue;
      codes[offset + x] = code;
      shades[offset + x] = shade(this.share[x]!, true);
    }
    this.share.fill(0);
    this.most.fill(0);
    this.code.fill(NOTHING);
    this.empty = true;
  }

  private put(x: number, share: number, code: number): void {
    this.share[x] = this.share[x]! + share;
    if (this.code[x] === NOTHING || share > this.most[x]!) {
      this.code[x] = code;
      this.most[x] = share;
    }
  }
}
