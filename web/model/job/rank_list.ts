// Ranks as tables write them: "0-3,8,16-504/8" is 0 to 3, 8, and every eighth rank from 16 to 504.

const MOST = 1 << 17;

/** null: the text is no such list, or too long. */
export function readRanks(text: string): number[] | null {
  const ranks: number[] = [];
  for (const part of text.split(",")) {
    const [, from, to, every] = /^(\d{1,9})(?:-(\d{1,9})(?:\/(\d{1,9}))?)?$/.exec(part) ?? [];
    if (from === undefined) return null;
    const [first, last, stride] = [Number(from), Number(to ?? from), Number(every ?? 1)];
    if (stride === 0 || last < first || ranks.length + (last - first) / stride >= MOST) return null;
    for (let rank = first; rank <= last; rank += stride) ranks.push(rank);
  }
  return ranks;
}
