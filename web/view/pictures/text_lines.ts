// The lines in which the browser shows a text, each with its place; a line that is cut off ends with an ellipsis.

export interface TextLine {
  words: string;
  box: DOMRect;
}

export function linesOf(text: Text, right: number): TextLine[] {
  const { data } = text;
  if (data.trim() === "") return [];
  const range = document.createRange();
  const boxOf = (from: number, to: number) => {
    range.setStart(text, from);
    range.setEnd(text, to);
    return range.getBoundingClientRect();
  };
  const lines: TextLine[] = [];
  let from = 0;
  let top: number | null = null;
  const end = (to: number) => {
    const [, before, inner] = /^(\s*)([^]*?)\s*$/.exec(data.slice(from, to))!;
    const [first, last] = [from + before!.length, from + before!.length + inner!.length];
    const box = boxOf(first, last);
    if (inner !== "" && box.width > 0) lines.push(fitted(text, first, last, box, right, boxOf));
    from = to;
  };
  for (const { index, 0: word } of data.matchAll(/\S+/g)) {
    const box = boxOf(index, index + word.length);
    if (top !== null && box.top > top + 2) end(index);
    top = box.top;
  }
  end(data.length);
  return lines;
}

/** The words up to `right`. */
function fitted(
  text: Text, from: number, to: number, box: DOMRect, right: number, boxOf: (from: number, to: number) => DOMRect,
): TextLine {
  const words = (end: number) => text.data.slice(from, end).replace(/\s+/g, " ").trim();
  if (box.right <= right + 1) return { words: words(to), box };
  const room = parseFloat(getComputedStyle(text.parentElement!).fontSize) * 0.8; // of the ellipsis
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (boxOf(from, middle).right + room <= right) low = middle;
    else high = middle - 1;
  }
  return { words: box.left + room > right ? "" : `${words(low)}…`, box };
}
