// The colour of each thing as a small number, which draw/theme.ts turns into a colour of the theme. Work of the
// device has a colour for its kind, and only its shade depends on the name; events of the host are paler and get
// theirs by the hash of their name. Both are the same on every track, in every picture and recording. Causes of idle
// time are a closed list, each with a letter, because colour alone does not reach everyone.

export const NOTHING = 0;
export const FIRST_HUE = 1;
export const HUES = 14;
export const WORK = 15; // the busy track
export const DIMMED = 16; // not highlighted
export const LOADING = 17; // not loaded yet
export const CRITICAL = 18; // the critical path
export const FIRST_CAUSE = 20;
export const FIRST_KIND = 40; // of work, SHADES of each
export const SHADES = 3;
export const FIRST_HOST = 64;
export const HOST_HUES = 8;
export const FIRST_PHASE = 72; // of engine steps
export const EDGE = 0x80; // added to a code for the first pixel of a slice, which is a shade darker

export interface Cause {
  name: string;
  letter: string;
  code: number;
}

const LETTERS: readonly [name: string, letter: string][] = [
  ["input pipeline", "I"],
  ["host compute", "H"],
  ["launch", "L"],
  ["synchronisation", "S"],
  ["host memcpy", "M"],
  ["allocation", "A"],
  ["compilation/module load", "C"],
  ["communication wait", "W"],
  ["profiler", "P"],
  ["nothing submitted", "N"],
  ["unrecorded work", "U"],
  ["waiting for work", "Z"],
  ["graph", "G"],
  ["unknown", "?"],
];

export const CAUSES: readonly Cause[] = LETTERS.map(([name, letter], i) => ({ name, letter, code: FIRST_CAUSE + i }));

/** The cause of this name; an unlisted one looks like "unknown" but keeps its name and first letter. */
export function causeOf(name: string): Cause {
  const known = CAUSES.find((cause) => cause.name === name);
  return known ?? { name, letter: name.slice(0, 1).toUpperCase() || "?", code: CAUSES[CAUSES.length - 1]!.code };
}

const PHASE_LETTERS: readonly [name: string, letter: string][] = [
  ["prefill", "P"],
  ["decode", "D"],
  ["mixed", "M"],
  ["verify", "V"],
  ["draft", "F"],
  ["dummy", "0"],
  ["unknown", "?"],
];

/** Phases of the engine steps of a server, as documents name them. */
export const PHASES: readonly Cause[] =
  PHASE_LETTERS.map(([name, letter], i) => ({ name, letter, code: FIRST_PHASE + i }));

/** The phase of this name; an unlisted one, such as "empty", has the colour of "unknown" and no letter. */
export function phaseOf(name: string): Cause {
  const known = PHASES.find((phase) => phase.name === name);
  return known ?? { ...PHASES[PHASES.length - 1]!, name, letter: "" };
}

/** Kinds of work, as documents name them. */
export const KINDS = ["GEMM", "attention", "communication", "copy", "elementwise", "reduction", "other"] as const;

const kinds = new Map<string, number>(); // of kernels, by name; of all recordings of the page

export function learnKinds(names: readonly { name: string; kind: string | null }[]): void {
  for (const { name, kind } of names) {
    const at = KINDS.findIndex((each) => each === kind);
    if (at >= 0) kinds.set(name, at);
  }
}

const OTHER = KINDS.indexOf("other");
const COPY = KINDS.indexOf("copy");

/** The index in KINDS of an event; -1: it is no work of a device. */
export function kindOfWork(table: string, name: string): number {
  if (table === "memcpy" || table === "memset") return COPY;
  return table === "kernel" ? (kinds.get(name) ?? OTHER) : -1;
}

export const codeOfKind = (kind: number, shade = 1): number => FIRST_KIND + kind * SHADES + shade;

/** Communication that other kernels do not hide, and that they do: one hue, strong and pale. */
export const EXPOSED = codeOfKind(KINDS.indexOf("communication"));
export const HIDDEN = FIRST_HOST + 3;

/** The colour of an event. */
export function colorOf(table: string, name: string): number {
  if (table === "gap") return causeOf(name).code;
  const kind = kindOfWork(table, name);
  return kind < 0 ? FIRST_HOST + (hashOf(name) % HOST_HUES) : codeOfKind(kind, hashOf(name) % SHADES);
}

/** Of a thing that is no event. */
export const hueOf = (name: string): number => FIRST_HUE + (hashOf(name) % HUES);

/** FNV-1a over the UTF-16 units; counters in a name (", op_id = 17") are ignored. */
function hashOf(full: string): number {
  const name = full.replace(/, \w+ = \d+/g, "");
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
