// Names of kernels as they are drawn and listed everywhere. A short name has no return type, parameters or
// namespaces. The kernels of a recording are learned when it is opened: where several differ in their template
// arguments only, the arguments that all of them share are omitted, overloads keep their parameters, and where a short
// name must be cut, every place that tells it from its neighbours in the alphabet stays. The full name is in the
// details and tooltips, and is what is copied. Names that are not C++ signatures are unchanged.

export type Span = readonly [from: number, to: number];

interface Learned {
  text: string;
  own: readonly Span[]; // where it differs from its neighbours
}

const learned = new Map<string, Learned>(); // by full name; of all recordings of the page

export const shortName = (name: string): string => learned.get(name)?.text ?? plainShort(visible(name));

const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** A name as it can be read: characters that are not seen, or turn the direction of the text, are written out. */
export function visible(name: string): string {
  if (name.trim() === "") return "(no name)";
  return name.replace(UNSEEN, (unseen) => `\\u${unseen.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The places of a short name that differ from its neighbours, ascending: they are cut last. Empty: cut its end. */
export const ownParts = (name: string): readonly Span[] => learned.get(name)?.own ?? [];

const MIN_SHARED = 0.4; // of the words of a name, with those before it in the alphabet: they are of one group
const WORD = /[A-Za-z0-9]+/g;
const MIN_CUT = 8; // characters: less between two places is not worth an ellipsis
const MAX_PLACES = 3; // of a name, each with an ellipsis before it

/** Makes the short names of kernels differ wherever the full ones do. */
export function learnNames(names: readonly string[]): void {
  const groups = new Map<string, { name: string; args: string[] }[]>();
  for (const name of new Set(names)) {
    const short = plainShort(visible(name));
    const open = topLevel(short, "<");
    const args = open > 0 && short.endsWith(">") ? argumentsOf(short.slice(open + 1, -1)) : [];
    const head = args.length > 0 ? short.slice(0, open) : short;
    groups.set(head, [...(groups.get(head) ?? []), { name, args }]);
  }
  const texts: [name: string, text: string][] = [];
  for (const [head, group] of groups) {
    const told = group.length > 1 ? tellingArguments(group.map(({ args }) => args)) : null;
    for (const { name, args } of group) {
      const shown = told === null ? args : told.map((at) => args[at] ?? "");
      const text = args.length === 0 ? head : `${head}<${shown.map(withoutNamespaces).join(", ")}>`;
      texts.push([name, text]);
    }
  }
  const isTwice = repeated(texts);
  const whole = texts.map(([name, text]): [string, string] => [name, isTwice(text) ? plainShort(visible(name)) : text]);
  const isOverloaded = repeated(whole);
  const textOf = (name: string, text: string) => (isOverloaded(text) ? plainShort(visible(name), true) : text);
  const sorted = whole.map(([name, text]) => ({ name, text: textOf(name, text) }));
  sorted.sort((a, b) => Number(a.text > b.text) - Number(a.text < b.text));
  let group: { name: string; text: string; words: string[] }[] = [];
  let shared: string[] = [];
  const close = () => {
    for (const { name, text } of group) learned.set(name, { text, own: spansOf(text, shared) });
  };
  for (const { name, text } of sorted) {
    const words = text.match(WORD) ?? [];
    const also = commonWords(shared, words);
    const isOther = also.length < MIN_SHARED * Math.max(words.length, shared.length);
    if (isOther) close();
    shared = isOther ? words : also;
    group = [...(isOther ? [] : group), { name, text, words }];
  }
  close();
}

function repeated(texts: readonly [name: string, text: string][]): (text: string) => boolean {
  const count = new Map<string, number>();
  for (const [, text] of texts) count.set(text, (count.get(text) ?? 0) + 1);
  return (text) => count.get(text)! > 1;
}

/** The longest common subsequence. */
function commonWords(a: readonly string[], b: readonly string[]): string[] {
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width); // of what begins at a word of each
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) {
      const without = Math.max(length[(i + 1) * width + j]!, length[i * width + j + 1]!);
      length[i * width + j] = a[i] === b[j] ? length[(i + 1) * width + j + 1]! + 1 : without;
    }
  const common: string[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; )
    if (a[i] === b[j]) common.push(a[i++]!), j++;
    else if (length[i * width + j] === length[i * width + j + 1]) j++;
    else i++;
  return common;
}

/** Where the words are that are not shared; what is too short to be cut belongs to them, and what is between closest
    ones of many. */
function spansOf(text: string, shared: readonly string[]): Span[] {
  const spans: [number, number][] = [];
  let next = 0;
  for (const { 0: word, index: at } of text.matchAll(WORD)) {
    const last = spans.at(-1);
    if (word === shared[next]) next++;
    else if (last !== undefined && at - last[1] < MIN_CUT) last[1] = at + word.length;
    else spans.push([at < MIN_CUT ? 0 : at, at + word.length]);
  }
  const last = spans.at(-1);
  if (last !== undefined && text.length - last[1] < MIN_CUT) last[1] = text.length;
  while (spans.length > MAX_PLACES) {
    const gaps = spans.slice(1).map(([from], i) => from - spans[i]![1]);
    const closest = gaps.indexOf(Math.min(...gaps));
    spans.splice(closest, 2, [spans[closest]![0], spans[closest + 1]![1]]);
  }
  return spans;
}

/** Positions of the arguments that differ; of these only one if it tells all members of the group apart. */
function tellingArguments(group: readonly (readonly string[])[]): number[] {
  const longest = Math.max(...group.map((args) => args.length));
  const values = (at: number) => new Set(group.map((args) => args[at]));
  const different = Array.from({ length: longest }, (_, at) => at).filter((at) => values(at).size > 1);
  const one = different.find((at) => values(at).size === group.length);
  return one === undefined ? different : [one];
}

function argumentsOf(text: string): string[] {
  const parts: string[] = [];
  for (let rest = text; ; ) {
    const comma = topLevel(rest, ",");
    parts.push((comma < 0 ? rest : rest.slice(0, comma)).trim());
    if (comma < 0) return parts;
    rest = rest.slice(comma + 1);
  }
}

const withoutNamespaces = (argument: string): string =>
  argument.replace(/\(anonymous namespace\)::/g, "").replace(/\b(?:[A-Za-z_]\w*::)+(?=[A-Za-z_{])/g, "");

function plainShort(name: string, withParameters = false): string {
  let text = name.replace(/^(void|auto) (?=\S)/, "");
  if (!/^[\w:~<]/.test(text) || !/::|\(|</.test(text) || /\s#|\.py\b/.test(text)) return text;
  text = text.replace(/\(anonymous namespace\)::/g, "");
  const open = topLevel(text, "(");
  const hasParameters = open > 0 && text[open - 1] !== " " && text.endsWith(")");
  const parameters = hasParameters && withParameters ? text.slice(open) : "";
  if (hasParameters) text = text.slice(0, open);
  const templates = topLevel(text, "<");
  const head = templates > 0 ? text.slice(0, templates) : text;
  const at = head.lastIndexOf("::");
  // aten::mm and cuda::launch are complete names; deeper prefixes are namespaces.
  return (at > 0 && (head.indexOf("::") !== at || templates > 0) ? text.slice(at + 2) : text) + parameters;
}

/** The first position of a character outside <...> and (...). */
function topLevel(text: string, wanted: string): number {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (depth === 0 && c === wanted) return i;
    if (c === "<" || c === "(") depth++;
    else if (c === ">" || c === ")") depth--;
  }
  return -1;
}
