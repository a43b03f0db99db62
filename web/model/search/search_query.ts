// What is typed into the search: a text or /regular expression/ for names, and filters before or after it:
//
//     kernel:gemm   dur>500us op:   thread:main copy:   nvtx: dur>=1ms dur<2ms
//
// A filter of a kind limits the search to these events; what follows its colon belongs to the text. thread: and stream:
// take a part of a track's name, quoted if it has spaces. A duration needs a unit. Other words with a colon are text,
// because names contain colons (aten::mm).

import { fail, ok, type Result } from "../../read/result.ts";
import { kindsOf } from "../recording/event_kind.ts";
import type { Lane, Manifest } from "../recording/manifest.ts";
import { COMPARISONS } from "../table/table_filter.ts";

const KINDS: ReadonlyMap<string, readonly string[]> = new Map([
  ["kernel", ["kernel"]],
  ["op", ["op"]],
  ["copy", ["memcpy", "memset"]],
  ["nvtx", ["range"]],
  ["call", ["api_call"]],
  ["python", ["python_call"]],
]);

const labelOf = (tables: readonly string[]): string => tables.map(kindsOf).join(" and ");

const TRACKS = ["thread", "stream"] as const;

/** For the reader: what can be typed. */
export const FILTERS = `${[...KINDS.keys(), ...TRACKS].map((name) => `${name}:`).join(" ")} dur>500us`;

const KIND = `(${[...KINDS.keys()].join("|")}):(?!:)`;
const TRACK = String.raw`(${TRACKS.join("|")}):(?!:)("[^"]*"|\S*)`;
const FILTER = new RegExp(String.raw`(?<=^|\s)(?:${KIND}|${TRACK}|dur(<=|>=|<|>)(\S*))`, "g");
const UNITS = new Map(Object.entries({ ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 }));

/** A test of single events; without one, names decide. */
export interface EventFilter {
  lanes: ReadonlySet<number> | null; // null: all
  minimum: number; // ns; events below do not pass
  passes(duration: number): boolean;
}

export interface Query {
  tables: ReadonlySet<string> | null; // null: all
  isNamed(name: string): boolean;
  events: EventFilter | null;
  limits: readonly string[]; // what the filters matched, for the reader
}

interface Condition {
  sign: string;
  ns: number;
}

export function readQuery(typed: string, manifest: Manifest): Result<Query> {
  const kinds: (readonly string[])[] = [];
  const conditions: Condition[] = [];
  const limits: string[] = [];
  let lanes: Lane[] | null = null;
  for (const [whole, kind, track, wanted, sign, limit] of typed.matchAll(FILTER)) {
    if (kind !== undefined) kinds.push(KINDS.get(kind)!);
    else if (track !== undefined) {
      const found = lanesOn(manifest, track, wanted!.replaceAll('"', ""));
      if (!found.ok) return found;
      lanes = (lanes ?? manifest.lanes).filter((lane) => found.value.lanes.includes(lane));
      limits.push(found.value.label);
    } else {
      const ns = durationOf(limit!);
      if (ns === null) return fail(`cannot read '${whole}': expected a duration with a unit, such as dur>500us`);
      conditions.push({ sign: sign!, ns });
      limits.push(whole);
    }
  }
  const missing = kinds.find((tables) => !manifest.lanes.some((lane) => tables.includes(lane.table)));
  if (missing) return fail(`no ${labelOf(missing)} in this recording`);
  const isPlain = limits.length + kinds.length === 0;
  const named = matcher(isPlain ? typed : typed.replace(FILTER, "").replace(/\s+/g, " ").trim());
  if (!named.ok) return named;
  const events = lanes === null && conditions.length === 0 ? null : filterOf(lanes, conditions);
  const tables = kinds.length === 0 ? null : new Set(kinds.flat());
  return ok({ tables, isNamed: named.value, events, limits: [...kinds.map(labelOf), ...limits] });
}

function filterOf(lanes: readonly Lane[] | null, conditions: readonly Condition[]): EventFilter {
  return {
    lanes: lanes && new Set(lanes.map((lane) => lane.id)),
    minimum: Math.max(0, ...conditions.flatMap(({ sign, ns }) => (sign.startsWith(">") ? [ns] : []))),
    passes: (duration) => conditions.every(({ sign, ns }) => COMPARISONS[sign]!(duration, ns)),
  };
}

function durationOf(text: string): number | null {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([a-zµ]+)$/i.exec(text) ?? [];
  const scale = UNITS.get(unit?.toLowerCase() ?? "");
  return scale === undefined ? null : Number(number) * scale;
}

/** The lanes of tracks of a kind with this text in their name, and of tracks below them. A number must be a word. */
function lanesOn({ tracks, lanes }: Manifest, kind: string, text: string): Result<{ lanes: Lane[]; label: string }> {
  const wanted = text.toLowerCase();
  const has = (name: string) =>
    /^\d+$/.test(wanted) ? name.split(/\D+/).includes(wanted) : name.toLowerCase().includes(wanted);
  const found = new Set(tracks.filter((track) => track.kind === kind && has(track.name)).map((track) => track.id));
  if (found.size === 0) return fail(`no ${kind} matches '${text}'`);
  const label = found.size === 1 ? `on ${tracks[[...found][0]!]!.name}` : `on ${found.size} ${kind}s`;
  for (const track of tracks) if (found.has(track.parent)) found.add(track.id); // parents come first
  return ok({ lanes: lanes.filter((lane) => found.has(lane.track)), label });
}

/** A test for names: /.../ and /.../i are regular expressions, everything else is case-insensitive text. */
export function matcher(query: string): Result<(name: string) => boolean> {
  const pattern = /^\/(.+)\/(i?)$/s.exec(query);
  if (pattern === null) {
    const text = query.toLowerCase();
    return ok((name) => name.toLowerCase().includes(text));
  }
  try {
    const expression = new RegExp(pattern[1]!, pattern[2]);
    return ok((name) => expression.test(name));
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}
