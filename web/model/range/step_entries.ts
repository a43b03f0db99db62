// What can be put beside something else: the steps of a recording, the fastest, median and slowest of them by name, and
// ranges that are measured or kept.

import type { KeptRanges } from "./kept_ranges.ts";
import { numberOf, tableOf, textOf, type Report } from "../recording/report.ts";
import type { Range } from "../recording/range.ts";

export interface StepEntry {
  key: string; // in the address
  name: string;
  range: Range;
}

const lengthOf = ({ range }: StepEntry): number => range.to - range.from;

export function stepsOf(report: Report): StepEntry[] {
  const table = tableOf(report, "steps");
  return (table?.rows ?? []).flatMap((_, row) => {
    const [from, length] = [numberOf(table!, row, "start_ns"), numberOf(table!, row, "dur_ns")];
    if (from === null || length === null) return [];
    const name = `step ${textOf(table!, row, "step") ?? row + 1}`;
    return [{ key: `step-${row + 1}`, name, range: { from, to: from + length } }];
  });
}

/** Steps that are known by their length; of an even number, the median is the lower middle one. */
export function namedSteps(steps: readonly StepEntry[]): StepEntry[] {
  if (steps.length < 2) return [];
  const sorted = [...steps].sort((a, b) => lengthOf(a) - lengthOf(b));
  const named = (key: string, step: StepEntry): StepEntry =>
    ({ ...step, key, name: `${key} step (${step.name.replace(/^step /, "")})` });
  const [fastest, median, slowest] = [sorted[0]!, sorted[(sorted.length - 1) >> 1]!, sorted.at(-1)!];
  return [named("fastest", fastest), named("median", median), named("slowest", slowest)];
}

export function entriesOf(report: Report, measured: Range | null, kept: KeptRanges): StepEntry[] {
  const steps = stepsOf(report);
  return [
    ...namedSteps(steps),
    ...(measured === null ? [] : [{ key: "measured", name: "measured range", range: measured }]),
    ...kept.map(({ number, note, from, to }) => {
      const name = `kept range ${number}${note === "" ? "" : `: ${note}`}`;
      return { key: `kept-${number}`, name, range: { from, to } };
    }),
    ...steps,
  ];
}
