// A short name on one line. Where it does not fit, its middle is cut: the end that tells it from its neighbours stays.

import { keptFrom, shortName } from "../../layout/short_name.ts";
import { matchOf } from "../../model/search/fuzzy.ts";

export function NameText({ name, typed = "" }: { name: string; typed?: string }) {
  const text = shortName(name);
  const keep = keptFrom(name);
  const marks = matchOf(text, typed)?.at ?? [];
  const part = (from: number, to: number) => <Marked text={text} {...{ from, to, marks }} />;
  if (keep === 0) return <span class="name-text">{part(0, text.length)}</span>;
  return (
    <span class="name-text">
      {part(0, keep)}
      {part(keep, text.length)}
    </span>
  );
}

interface MarkedProps {
  text: string;
  from: number;
  to: number;
  marks: readonly number[]; // positions in the text
}

/** A part of a text, with the letters that were typed. */
function Marked({ text, from, to, marks }: MarkedProps) {
  const pieces: { text: string; isMarked: boolean }[] = [];
  for (let at = from; at < to; at++) {
    const isMarked = marks.includes(at);
    const last = pieces.at(-1);
    if (last?.isMarked === isMarked) last.text += text[at];
    else pieces.push({ text: text[at]!, isMarked });
  }
  return <span>{pieces.map((piece, i) => (piece.isMarked ? <mark key={i}>{piece.text}</mark> : piece.text))}</span>;
}
