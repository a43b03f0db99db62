// One step of a job as bars over ranks, on the common clock; times in ns from the start of the step.

import { array, maybeNumber, number, object, text, type Json } from "../../read/json.ts";

export interface StepBar {
  rank: number;
  why: string; // it is among those shown: all, straggler, critical path, group or quantile
  start: number;
  end: number;
  starts: number[]; // of its spans, which follow each other without a hole
  parts: number[]; // of each span, in Job.parts
  sums: number[]; // by part
  clockError: number | null; // ns; null: its clock cannot be compared, so the bar stands at the usual start
}

export interface PathPiece {
  rank: number;
  from: number;
  to: number;
  transfer: boolean;
}

export interface StepPicture {
  bars: StepBar[];
  path: PathPiece[];
  from: number; // the earliest start
  to: number;
}

/** Bars and pieces of ranks that the job does not have are omitted. */
export function readStep(json: string, ranks: number, parts: number): StepPicture {
  const raw = object(JSON.parse(json));
  const fits = (rank: number) => Number.isInteger(rank) && rank >= 0 && rank < ranks;
  const bars = array(raw.bars).map((bar) => readBar(object(bar), parts)).filter((bar) => fits(bar.rank));
  const path = array(raw.path)
    .map((piece) => array(piece).map(number))
    .map(([rank = -1, from = 0, to = 0, transfer]) => ({ rank, from, to, transfer: transfer === 1 }))
    .filter((piece) => fits(piece.rank) && piece.from <= piece.to);
  const times = [...bars.flatMap((bar) => [bar.start, bar.end]), ...path.flatMap((piece) => [piece.from, piece.to])];
  return { bars, path, from: times.reduce((a, b) => Math.min(a, b), 0), to: times.reduce((a, b) => Math.max(a, b), 1) };
}

function readBar(raw: Json, known: number): StepBar {
  const spans = array(raw.spans).map(number);
  const start = number(raw.start_ns);
  const starts: number[] = [];
  const parts: number[] = [];
  let end = start;
  for (let i = 0; i + 1 < spans.length; i += 2) {
    const part = spans[i + 1]!;
    if (!Number.isInteger(part) || part < 0 || part >= known || spans[i]! < 0) continue;
    starts.push(end);
    parts.push(part);
    end += spans[i]!;
  }
  const sums = array(raw.sums_ns).map(number);
  const [rank, why, clockError] = [number(raw.rank), text(raw.why), maybeNumber(raw.clock_error_ns)];
  return { rank, why, start, end, starts, parts, sums, clockError };
}

/** The index of the span at a time; -1 outside the bar. */
export function spanAt(bar: StepBar, time: number): number {
  if (time < bar.start || time >= bar.end) return -1;
  let [low, high] = [0, bar.starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (bar.starts[middle]! <= time) low = middle;
    else high = middle;
  }
  return low;
}
