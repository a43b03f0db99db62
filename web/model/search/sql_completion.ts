// Which words may stand at the cursor of the SQL box: tables after FROM and JOIN, elsewhere columns of the tables that
// the statement names (of all tables if it names none), functions and keywords. As in the shell of `gpu-profile query`.

import type { SqlSchema, SqlTable } from "../../read/sql_client.ts";

export interface Completion {
  from: number; // where the word at the cursor begins
  words: { text: string; doc: string }[];
}

const KEYWORDS = [
  ..."AND AS ASC AVG BETWEEN BY CASE CAST COUNT DESC DISTINCT ELSE END FROM GLOB GROUP HAVING IN IS JOIN".split(" "),
  ..."LEFT LIKE LIMIT MAX MIN NOT NULL OFFSET ON OR ORDER OVER PARTITION REGEXP SELECT SUM THEN UNION".split(" "),
  ..."USING WHEN WHERE WITH".split(" "),
];
const MAX_WORDS = 12;

/** null: nothing fits, or no word has been begun. */
export function completeSql(schema: SqlSchema, text: string, cursor: number): Completion | null {
  const before = text.slice(0, cursor);
  const typed = /[\w.]*$/.exec(before)![0];
  const dot = typed.lastIndexOf(".");
  const word = typed.slice(dot + 1).toLowerCase();
  const from = cursor - word.length;
  if (/'[^']*$/.test(before.replace(/'[^']*'/g, "")) || (word === "" && dot < 0)) return null;
  const goesOn = (text: string) => text.startsWith(word) && text !== word;
  const known = candidates(schema, text, before.slice(0, from), dot >= 0);
  const fits = known.filter((each) => goesOn(each.text.toLowerCase()));
  const seen = new Set<string>();
  const words = fits.filter(({ text }) => !seen.has(text) && seen.add(text)).slice(0, MAX_WORDS);
  return words.length === 0 ? null : { from, words };
}

type Candidate = { text: string; doc: string };

function candidates(schema: SqlSchema, text: string, before: string, ofTable: boolean): Candidate[] {
  const named = ({ name, doc }: { name: string; doc: string }) => ({ text: name, doc });
  const columns = mentioned(schema, text).flatMap((table) => table.columns.map(named));
  const tables = schema.tables.map(named);
  if (ofTable) return columns;
  if (/\b(from|join)\s+$/i.test(before)) return tables;
  const functions = schema.functions.flatMap(({ synopsis, doc }) => {
    const [text] = /^\w+\(/.exec(synopsis) ?? [];
    return text === undefined ? [] : [{ text, doc: `${synopsis}: ${doc}` }];
  });
  return [...columns, ...functions, ...KEYWORDS.map((keyword) => ({ text: keyword, doc: "" })), ...tables];
}

function mentioned(schema: SqlSchema, text: string): readonly SqlTable[] {
  const words = new Set(text.toLowerCase().match(/\w+/g));
  const named = schema.tables.filter((table) => words.has(table.name));
  return named.length > 0 ? named : schema.tables;
}
