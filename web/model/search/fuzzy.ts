// How well a text fits what was typed: each word must occur in it, as a part or as letters that start words, so "cma"
// finds cudaMemcpyAsync. A whole word is better than the start of one, that better than a part, and that than single
// letters; of equal ones, short texts are better.

export interface Match {
  score: number; // higher is better
  at: readonly number[]; // positions of the typed letters
}

const WHOLE = 4;
const START = 3;
const PART = 2;
const LETTERS = 1;
const LONGEST = 400; // characters that are looked at

/** null: it does not fit. */
export function matchOf(whole: string, typed: string): Match | null {
  const text = whole.slice(0, LONGEST);
  const words = typed.toLowerCase().split(/\s+/).filter((word) => word !== "");
  let score = 0;
  const at: number[] = [];
  for (const word of words) {
    const found = wordIn(text, word);
    if (found === null) return null;
    score += found.score * word.length;
    at.push(...found.at);
  }
  return { score: score - text.length / (4 * LONGEST), at };
}

function wordIn(text: string, word: string): Match | null {
  const lower = text.toLowerCase();
  let best: Match | null = null;
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) {
    const end = at + word.length;
    const isWhole = isStart(text, at) && (end === text.length || isStart(text, end) || !/[a-z0-9]/i.test(text[end]!));
    const score = isWhole ? WHOLE : isStart(text, at) ? START : PART;
    if (best === null || score > best.score) best = { score, at: Array.from(word, (_, i) => at + i) };
  }
  return best ?? lettersIn(text, lower, word);
}

/** Letters in order, each the start of a word or right after the one before. */
function lettersIn(text: string, lower: string, word: string): Match | null {
  const place = (letter: number, from: number): number[] | null => {
    if (letter === word.length) return [];
    for (let at = lower.indexOf(word[letter]!, from); at >= 0; at = lower.indexOf(word[letter]!, at + 1)) {
      if (!isStart(text, at) && !(letter > 0 && at === from)) continue;
      const rest = place(letter + 1, at + 1);
      if (rest !== null) return [at, ...rest];
    }
    return null;
  };
  const at = word.length > 12 ? null : place(0, 0);
  return at && { score: LETTERS, at };
}

const isStart = (text: string, at: number): boolean =>
  at === 0 || /[^a-z0-9][a-z0-9]/i.test(text.slice(at - 1, at + 1)) || /[a-z][A-Z]/.test(text.slice(at - 1, at + 1));

/** The texts that fit, best first; those that fit equally well keep their order. */
export function fuzzySorted<T>(items: readonly T[], textOf: (item: T) => string, typed: string): T[] {
  const scored = items.flatMap((item) => {
    const match = matchOf(textOf(item), typed);
    return match === null ? [] : [{ item, score: match.score }];
  });
  return typed.trim() === "" ? [...items] : scored.sort((a, b) => b.score - a.score).map(({ item }) => item);
}
