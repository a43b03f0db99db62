// The short name drawn on a slice: without return type, parameters and namespaces. The full name is in the details and
// tooltips. Names that are not C++ signatures are unchanged.

export function shortName(name: string): string {
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
