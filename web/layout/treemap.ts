// Amounts as rectangles that fill a rectangle, as square as possible (Bruls, Huizing, van Wijk, "Squarified treemaps",
// 2000). Amounts are in descending order.

import type { Box } from "./display.ts";

export function treemap(amounts: readonly number[], room: Box): Box[] {
  const boxes: Box[] = [];
  const total = amounts.reduce((sum, amount) => sum + amount, 0);
  const scale = total > 0 ? (room.width * room.height) / total : 0;
  let left = { ...room };
  for (let from = 0; from < amounts.length; ) {
    const side = Math.min(left.width, left.height);
    let to = from + 1;
    let sum = amounts[from]! * scale;
    // Extend the row while that makes its worst box squarer.
    for (const largest = sum; to < amounts.length; to++) {
      const next = amounts[to]! * scale;
      if (worst(largest, next, sum + next, side) > worst(largest, amounts[to - 1]! * scale, sum, side)) break;
      sum += next;
    }
    const depth = side > 0 ? sum / side : 0;
    let along = 0;
    for (const amount of amounts.slice(from, to)) {
      const length = depth > 0 ? (amount * scale) / depth : 0;
      boxes.push(
        left.width >= left.height
          ? { x: left.x, y: left.y + along, width: depth, height: length }
          : { x: left.x + along, y: left.y, width: length, height: depth },
      );
      along += length;
    }
    left =
      left.width >= left.height
        ? { ...left, x: left.x + depth, width: left.width - depth }
        : { ...left, y: left.y + depth, height: left.height - depth };
    from = to;
  }
  return boxes;
}

/** The largest aspect ratio in a row of area `sum` along `side`. */
function worst(largest: number, smallest: number, sum: number, side: number): number {
  const square = (sum / side) ** 2;
  return Math.max(largest / square, square / smallest);
}
