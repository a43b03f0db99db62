// Names of kernels as they are drawn and listed everywhere. A short name has no return type, parameters or
// namespaces. The kernels of a recording are learned when it is opened: where several differ in their template
// arguments only, the arguments that all of them share are omitted, and where a short name must be cut, what tells
// it from its neighbours in the alphabet stays. The full name is in the details and tooltips, and is what is copied.
// Names that are not C++ signatures are unchanged.

interface Learned {
  text: string;
  keep: number; // position from which the neighbours of the name differ
}

const learned = new Map<string, Learned>(); // by full name; of all recordings of the page

export const shortName = (name: string): string => learned.get(name)?.text ?? plainShort(name);

/** Where a short name may not be cut: from here on it differs from its neighbours. 0: cut its end. */
export const keptFrom = (name: string): number => learned.get(name)?.keep ?? 0;

const MIN_TAIL = 3; // characters: a shorter difference is shown with what precedes it

/** Makes the short names of kernels differ wherever the full ones do. */
export function learnNames(names: readonly string[]): void {
  const groups = new Map<string, { name: string; args: string[] }[]>();
  for (const name of new Set(names)) {
    const short = plainShort(name);
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
  const count = new Map<string, number>();
  for (const [, text] of texts) count.set(text, (count.get(text) ?? 0) + 1);
  const sorted = texts.map(([name, text]): [string, string] => [name, count.get(text)! > 1 ? plainShort(name) : text]);
  sorted.sort(([, a], [, b]) => Number(a > b) - Number(a < b));
  sorted.forEach(([name, text], i) => {
    const shared = Math.max(commonLength(text, sorted[i - 1]?.[1] ?? ""), commonLength(text, sorted[i + 1]?.[1] ?? ""));
    learned.set(name, { text, keep: Math.min(shared, Math.max(0, text.length - MIN_TAIL)) });
  });
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

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

function plainShort(name: string): string {
  let text = name.replace(/^(void|auto) (?=\S)/, "");
  if (!/^[\w:~<]/.test(text) || !/::|\(|</.test(text) || /\s#|\.py\b/.test(text)) return text;
  text = text.replace(/\(anonymous namespace\)::/g, "");
  const open = topLevel(text, "(");
  if (open > 0 && text[open - 1] !== " " && text.endsWith(")")) text = text.slice(0, open);
  const templates = topLevel(text, "<");
  const head = templates > 0 ? text.slice(0, templates) : text;
  const at = head.lastIndexOf("::");
  // aten::mm and cuda::launch are complete names; deeper prefixes are namespaces.
  return at > 0 && (head.indexOf("::") !== at || templates > 0) ? text.slice(at + 2) : text;
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
