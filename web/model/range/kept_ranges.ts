// Ranges that the user keeps, with a number and a note. In the address: keep=1:FROM-TO:NOTE;2:FROM-TO:

import type { Range } from "../recording/range.ts";

export interface KeptRange extends Range {
  number: number;
  note: string;
}

export type KeptRanges = readonly KeptRange[];

export const isKept = (kept: KeptRanges, range: Range): boolean =>
  kept.some(({ from, to }) => from === Math.round(range.from) && to === Math.round(range.to));

/** With the range under the lowest free number; unchanged if it is kept already. */
export function withRange(kept: KeptRanges, range: Range): KeptRanges {
  if (isKept(kept, range)) return kept;
  let number = 1;
  while (kept.some((each) => each.number === number)) number++;
  const added = { number, from: Math.round(range.from), to: Math.round(range.to), note: "" };
  return [...kept, added].sort((a, b) => a.number - b.number);
}

export const withoutRange = (kept: KeptRanges, number: number): KeptRanges =>
  kept.filter((each) => each.number !== number);

export const withNote = (kept: KeptRanges, number: number, note: string): KeptRanges =>
  kept.map((each) => (each.number === number ? { ...each, note } : each));

export const keptText = (kept: KeptRanges): string =>
  kept.map(({ number, from, to, note }) => `${number}:${from}-${to}:${encodeURIComponent(note)}`).join(";");

/** Omits parts that are no kept range and, of two with one number, the second. */
export function readKept(text: string): KeptRanges {
  const kept = new Map<number, KeptRange>();
  for (const part of text.split(";")) {
    const [, number, from, to, note] = /^(\d{1,6}):(-?\d{1,16})-(-?\d{1,16}):(.*)$/s.exec(part) ?? [];
    if (number === undefined || kept.has(Number(number)) || !(Number(from) < Number(to))) continue;
    kept.set(Number(number), { number: Number(number), from: Number(from), to: Number(to), note: decoded(note!) });
  }
  return [...kept.values()].sort((a, b) => a.number - b.number);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
