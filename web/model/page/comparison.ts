// Two recordings of one program: the result of `compare`, and their timelines aligned at a pair of steps: the same step
// in both, or if they have no steps, the starts of the reported parts. Each side can show a step of its own instead.
// While both timelines are shown, one window follows the other.

import { numberOf, tableOf, textOf, type Report, type ReportTable } from "../recording/report.ts";
import { namesOf, reportedPart } from "../table/row_navigation.ts";
import { namedSteps, type StepEntry } from "../range/step_entries.ts";
import { around, shifted, union, type Range } from "../recording/range.ts";
import type { Viewer } from "./viewer.ts";

export interface StepPair {
  name: string;
  base: Range;
  next: Range;
}

const MARGIN = 0.05; // share of a step, on both sides

export class Comparison {
  constructor(
    readonly base: Viewer,
    readonly next: Viewer,
    readonly report: Report,
    readonly pairs: readonly StepPair[], // at least one
    /** What a side can show alone. */
    readonly steps: { base: readonly StepEntry[]; next: readonly StepEntry[] } = { base: [], next: [] },
  ) {}

  /** What is shown: the chosen pair, or on a side its own step. */
  get pair(): StepPair {
    const { name, base, next } = this.pairs[Math.min(this.next.state.comparison.aligned, this.pairs.length - 1)]!;
    const own = (viewer: Viewer, steps: readonly StepEntry[]) =>
      steps.find(({ key }) => key === viewer.state.comparison.ownStep)?.range;
    return { name, base: own(this.base, this.steps.base) ?? base, next: own(this.next, this.steps.next) ?? next };
  }

  /** ns from a time in BASE to the aligned time in NEW. */
  get offset(): number {
    return this.pair.next.from - this.pair.base.from;
  }

  /** Aligns the timelines at this pair of steps and shows it. */
  align(index: number): void {
    this.base.set({ comparison: { ownStep: null } });
    const aligned = Math.min(Math.max(index, 0), this.pairs.length - 1);
    this.next.set({ comparison: { ownStep: null, aligned } });
    this.show();
  }

  /** Shows a step of one side next to what the other side shows. */
  choose(viewer: Viewer, ownStep: string): void {
    viewer.set({ comparison: { ownStep } });
    this.show();
  }

  /** Moves both windows to the pair. */
  show(): void {
    this.extendBounds();
    const { base, next } = this.pair;
    this.next.set({ view: around(union(next, shifted(base, this.offset)), MARGIN) });
  }

  /** Makes one window follow the other until the returned function is called. */
  follow(): () => void {
    this.extendBounds();
    let following = false;
    const lead = (leader: Viewer, follower: Viewer, by: () => number) => () => {
      const wanted = shifted(leader.state.view, by());
      const { view } = follower.state;
      if (following || (view.from === wanted.from && view.to === wanted.to)) return;
      following = true;
      follower.set({ view: wanted });
      following = false;
    };
    const baseFollows = lead(this.next, this.base, () => -this.offset);
    const nextFollows = lead(this.base, this.next, () => this.offset);
    const release = [this.next.subscribe(baseFollows), this.base.subscribe(nextFollows)];
    baseFollows();
    return () => {
      for (const each of release) each();
      this.next.setBounds(null);
      this.base.setBounds(null);
    };
  }

  /** Each window can move as far as the other's. */
  private extendBounds(): void {
    this.next.setBounds(shifted({ from: 0, to: this.base.length }, this.offset));
    this.base.setBounds(shifted({ from: 0, to: this.next.length }, -this.offset));
  }

  /** Highlights the events of a comparison row on both timelines; false if neither has any. */
  async highlight(table: ReportTable, row: number): Promise<boolean> {
    const names = ["name", "new_name"].map((column) => textOf(table, row, column)).filter((text) => text !== null);
    const found = await Promise.all([this.base, this.next].map(async (viewer) => namesAbout(viewer, names)));
    if (found.every((names) => names.length === 0)) return false;
    // A name on only one side dims everything on the other, because it has no such event.
    this.base.highlight(found[0]!.length > 0 ? found[0]! : names);
    this.next.highlight(found[1]!.length > 0 ? found[1]! : names);
    return true;
  }
}

/** The name in the recording; causes of idle time and kinds of copies are also names, prefixed with the device. */
async function namesAbout(viewer: Viewer, texts: readonly string[]): Promise<string[]> {
  const { recording } = viewer;
  const names = await recording.names();
  const tables = [...recording.manifest.tables.keys()];
  const labels = new Set(recording.manifest.lanes.map((lane) => lane.label));
  const wanted = texts.flatMap((text) => [text, text.replace(/^\d+ /, "")]);
  const listed = wanted.flatMap((text) => namesOf(names, tables, text).map((name) => name.name));
  return [...new Set([...listed, ...wanted.filter((text) => labels.has(text))])];
}

/** The steps of one side that `compare` compares, the fastest, median and slowest first. */
export function stepsOfSide(report: Report, side: "base" | "new"): StepEntry[] {
  const table = tableOf(report, "steps");
  const steps = (table?.rows ?? []).flatMap((_, row) => {
    const range = rangeOf(table!, row, side);
    return range ? [{ key: `step-${row + 1}`, name: `step ${textOf(table!, row, "name") ?? row + 1}`, range }] : [];
  });
  return [...namedSteps(steps), ...steps];
}

/** The pairs of steps that `compare` compares. */
export function pairsOfSteps(report: Report): StepPair[] {
  const table = tableOf(report, "steps");
  if (table === null) return [];
  return table.rows.flatMap((_, row) => {
    const [base, next] = ["base", "new"].map((side) => rangeOf(table, row, side));
    return base && next ? [{ name: textOf(table, row, "name") ?? String(row + 1), base, next }] : [];
  });
}

/** null: this side has no such step. */
function rangeOf(table: ReportTable, row: number, side: string): Range | null {
  const [from, length] = [numberOf(table, row, `${side}_start_ns`), numberOf(table, row, `${side}_ns`)];
  return from === null || length === null ? null : { from, to: from + length };
}

export function makeComparison(base: Viewer, next: Viewer, report: Report): Comparison {
  const pairs = pairsOfSteps(report);
  const whole = { name: "", base: reportedPart(base.recording), next: reportedPart(next.recording) };
  const steps = { base: stepsOfSide(report, "base"), next: stepsOfSide(report, "new") };
  return new Comparison(base, next, report, pairs.length > 0 ? pairs : [whole], steps);
}
