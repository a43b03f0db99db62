// A short name in a box, on as many lines as the box has: cut to what they hold, then broken behind a separator where
// one is near the end of a line.

import type { Fitter } from "./fit.ts";
import { ownParts, shortName } from "./short_name.ts";

const LOST = 0.5; // lines: what breaks before the end of a line cost, of all lines together
const BREAK = /[_<>,:;.()\s…-]/;
const NEAR = 0.6; // of a line: a separator before this place is too far from its end

export function nameLines(name: string, width: number, most: number, fitter: Fitter): string[] {
  const room = most > 1 ? width * (most - LOST) : width;
  const lines: string[] = [];
  for (let rest = fitter.fit(shortName(name), room, ownParts(name)); rest !== ""; ) {
    if (lines.length + 1 >= most || fitter.width(rest) <= width) {
      lines.push(fitter.fit(rest, width));
      break;
    }
    const end = endOfLine(rest, width, fitter);
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return lines.filter((line) => line !== "");
}

function endOfLine(text: string, width: number, fitter: Fitter): number {
  let [low, high] = [1, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (fitter.width(text.slice(0, middle)) <= width) low = middle;
    else high = middle - 1;
  }
  for (let end = low; end > low * NEAR; end--) if (BREAK.test(text[end - 1]!)) return end;
  return low;
}
