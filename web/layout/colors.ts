// The colour of each thing as a small number, which draw/theme.ts turns into a colour of the theme. A name gets one of
// HUES by its hash, so it has the same colour on every track and in every recording. Causes of idle time are a closed
// list, each with a letter, because colour alone does not reach everyone.

export const NOTHING = 0;
export const FIRST_HUE = 1;
export const HUES = 14;
export const WORK = 15; // the busy track
export const DIMMED = 16; // not highlighted
export const LOADING = 17; // not loaded yet
export const CRITICAL = 18; // the critical path
export const FIRST_CAUSE = 20;
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
  ["unknown", "?"],
];

export const CAUSES: readonly Cause[] = LETTERS.map(([name, letter], i) => ({ name, letter, code: FIRST_CAUSE + i }));

/** The cause of this name; an unlisted one looks like "unknown" but keeps its name and first letter. */
export function causeOf(name: string): Cause {
  const known = CAUSES.find((cause) => cause.name === name);
  return known ?? { name, letter: name.slice(0, 1).toUpperCase() || "?", code: CAUSES[CAUSES.length - 1]!.code };
}

/** FNV-1a over the UTF-16 units; counters in a name (", op_id = 17") are ignored. */
export function hueOf(full: string): number {
  const name = full.replace(/, \w+ = \d+/g, "");
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return FIRST_HUE + ((hash ^ (hash >>> 15)) >>> 0) % HUES;
}
