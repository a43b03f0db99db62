// What a recording is called where there is room for one name: its file, its folder, or how many files it is.

import type { Manifest } from "./manifest.ts";

/** The words of a command line; those in quotes keep their blanks. */
const wordsOf = (line: string): string[] => line.match(/(?:\$?'(?:[^'\\]|\\.)*'|[^\s'])+/g) ?? [];

export function sourceName({ source }: Pick<Manifest, "source">): string {
  const words = wordsOf(source.words);
  if (words.length > 1) return `${words.length} files`;
  const isFolder = source.file.endsWith("/");
  const name = source.file.replace(/\/+$/, "").split("/").pop()!;
  return isFolder ? `folder ${name}` : name;
}
