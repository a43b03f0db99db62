// A row of slices as pixels. Each device pixel collects the share of its time that events cover, and the colour of the
// slice that covers most of it. The shade, drawn as a height, follows the share, with three guarantees: a pixel with an
// event is never blank, an almost idle pixel looks almost idle, and only a fully covered pixel looks full.

import { EDGE, NOTHING } from "./colors.ts";

const MIN_SHADE = 0.16; // minimum shade of a pixel with an event
const MAX_PARTIAL_SHADE = 0.9; // maximum shade of a pixel that is not fully covered
const FULL_SHARE = 0.9995;
const EDGE_WIDTH = 4; // minimum width in device pixels of a slice with a darker first pixel

/** The shade for a share of covered time, 0 to 255. */
export function shade(share: number, touched: boolean): number {
  if (share >= FULL_SHARE) return 255;
  if (share <= 0 && !touched) return 0;
  return Math.round(255 * (MIN_SHADE + (MAX_PARTIAL_SHADE - MIN_SHADE) * Math.max(0, share)));
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

  /** Adds a slice from x0 to x1 (device pixels), of which `density` (0 to 1) is covered. */
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

  /** Writes the row into `codes` and `shades` at an offset, then clears itself. */
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
