// A short name on one line. Where it does not fit, what it shares with its neighbours is cut first, except for its
// first letters, then the end of the last part of its own.

import { ownParts, shortName } from "../../layout/short_name.ts";
import { matchOf } from "../../model/search/fuzzy.ts";

const FEW = 5; // first letters that stay

export function NameText({ name, typed = "" }: { name: string; typed?: string }) {
  const text = shortName(name);
  const own = ownParts(name);
  const marks = matchOf(text, typed)?.at ?? [];
  const part = (from: number, to: number, look = "") =>
    from < to && <Marked key={from} {...{ text, from, to, marks, look }} />;
  const head = Math.min(own[0]?.[0] ?? 0, FEW);
  const shared = (i: number) => part(own[i - 1]?.[1] ?? head, own[i]?.[0] ?? text.length);
  return (
    <span class="name-text">
      {part(0, head, "head")}
      {own.map(([from, to], i) => [shared(i), part(from, to, i + 1 < own.length ? "own" : "own last")])}
      {shared(own.length)}
    </span>
  );
}

interface MarkedProps {
  text: string;
  from: number;
  to: number;
  marks: readonly number[]; // positions in the text
  look: string;
}

/** A part of a text, with the letters that were typed. */
function Marked({ text, from, to, marks, look }: MarkedProps) {
  const pieces: { text: string; isMarked: boolean }[] = [];
  for (let at = from; at < to; at++) {
    const isMarked = marks.includes(at);
    const last = pieces.at(-1);
    if (last?.isMarked === isMarked) last.text += text[at];
    else pieces.push({ text: text[at]!, isMarked });
  }
  const shown = pieces.map((piece, i) => (piece.isMarked ? <mark key={i}>{piece.text}</mark> : piece.text));
  return <span class={look}>{shown}</span>;
}
