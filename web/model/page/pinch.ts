// Zooming with two fingers: the time between them stays between them.

import { zoomed, type Range } from "../recording/range.ts";

export interface Point {
  x: number; // css pixels
  y: number;
}

const CLOSEST = 20; // css pixels; fingers that are closer would zoom too fast

type Fingers = readonly [Point, Point];

export function pinched(view: Range, width: number, before: Fingers, now: Fingers): Range {
  const apart = ([a, b]: Fingers) => Math.max(CLOSEST, Math.hypot(a.x - b.x, a.y - b.y));
  const [was, is] = [before, now].map((two) => ({ apart: apart(two), middle: (two[0].x + two[1].x) / 2 }));
  const anchor = view.from + (was!.middle / width) * (view.to - view.from);
  const { from, to } = zoomed(view, was!.apart / is!.apart, anchor);
  const by = ((was!.middle - is!.middle) / width) * (to - from);
  return { from: from + by, to: to + by };
}
