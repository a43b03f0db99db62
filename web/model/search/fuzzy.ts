// How well a text fits what was typed: its letters must occur in order. Letters that follow each other and letters at
// the start of a word count more, and short texts more than long ones.

const START_OF_WORD = 3;
const RUN = 2;

/** Higher is better; null: the letters do not occur in this order. */
export function fuzzyScore(text: string, typed: string): number | null {
  const wanted = typed.toLowerCase().replace(/\s+/g, "");
  if (wanted === "") return 0;
  const found = text.toLowerCase();
  const whole = found.indexOf(typed.toLowerCase().trim());
  if (whole >= 0)
    return wanted.length * (1 + RUN) + (isStart(text, whole) ? START_OF_WORD + RUN : RUN) - lengthCost(text);
  let [score, at] = [0, -1];
  for (const letter of wanted) {
    const next = found.indexOf(letter, at + 1);
    if (next < 0) return null;
    const start = isStart(text, next) ? START_OF_WORD - 1 : 0;
    score += 1 + (next === at + 1 && at >= 0 ? RUN : start);
    at = next;
  }
  return score - lengthCost(text);
}

const lengthCost = (text: string): number => Math.min(text.length, 400) / 200;

const isStart = (text: string, at: number): boolean =>
  at === 0 || /[^a-z0-9]/i.test(text[at - 1]!) || (/[A-Z]/.test(text[at]!) && /[a-z]/.test(text[at - 1]!));

/** The texts that fit, best first; those that fit equally well keep their order. */
export function fuzzySorted<T>(items: readonly T[], textOf: (item: T) => string, typed: string): T[] {
  const scored = items.flatMap((item) => {
    const score = fuzzyScore(textOf(item), typed);
    return score === null ? [] : [{ item, score }];
  });
  return scored.sort((a, b) => b.score - a.score).map(({ item }) => item);
}
