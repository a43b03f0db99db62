// A job of many ranks as the document describes it (the view format, "Jobs"): ranks, steps, quantities, stragglers.
// Ranks and steps are used by their index in these lists. The JSON may come from an untrusted file: what is missing or
// of another type is an empty value, and lists that do not fit together are an error.

import { array, maybeNumber, maybeText, number, object, text, type Json } from "../../read/json.ts";

const MAX_CELLS = 20_000_000;

export interface JobRank {
  rank: number;
  host: string | null;
  peers: number | null; // ranks of one set do the same in a step
  status: string; // whole, cut, unreadable or missing
  reason: string | null;
  file: string | null; // its name, quoted for a shell
}

export interface Quantity {
  name: string;
  title: string;
  doc: string;
  unit: string;
  quantum: number; // cells are rounded to multiples of it
  lowIsBad: boolean;
  compares: boolean; // with other ranks: 0 is usual
  least: number;
  low: number; // 2nd percentile
  middle: number;
  high: number; // 98th percentile
  most: number;
}

/** A straggler. */
export interface Unit {
  unit: string;
  cause: string;
  named: boolean; // certain and large enough; else only slow
  cost: number; // ns per step
  alone: number;
  error: number | null;
  steps: number; // in which it costs at least 1 %
  firstStep: number | null; // their numbers
  lastStep: number | null;
  evidence: string;
  advice: string;
  ranks: number[];
  quantity: string; // that shows it
  worst: [rank: number, step: number] | null;
}

export interface Job {
  steps: number[]; // their numbers
  longest: number[]; // ns, on the rank where the step took longest
  parts: string[]; // of bars
  ranks: JobRank[];
  recorded: Uint8Array; // by rank, then step
  quantities: Quantity[];
  units: Unit[];
  stepTime: number; // ns
  namelessFiles: number; // files that could not be given to a rank
}

/** Throws a one-line error if the lists do not fit together. */
export function readJob(json: string): Job {
  const raw = object(JSON.parse(json));
  const steps = array(raw.steps).map(number);
  const hosts = array(raw.hosts).map(maybeText);
  const columns = object(raw.ranks);
  const column = (name: string) => array(columns[name]);
  const ranks = column("rank").map((rank, i) => ({
    rank: number(rank),
    host: hosts[number(column("host")[i])] ?? null,
    peers: maybeNumber(column("peers")[i]),
    status: text(column("status")[i]),
    reason: maybeText(column("reason")[i]),
    file: maybeText(column("file")[i]),
  }));
  const cells = ranks.length * steps.length;
  if (cells > MAX_CELLS)
    throw new Error(`a job of ${ranks.length} ranks and ${steps.length} steps is too large for a page`);
  const fits = (rank: number) => Number.isInteger(rank) && rank >= 0 && rank < ranks.length;
  return {
    steps,
    longest: steps.map((_, i) => number(array(raw.longest_ns)[i])),
    parts: array(raw.parts).map(text),
    ranks,
    recorded: readRuns(array(raw.recorded).map(number), cells),
    quantities: array(raw.quantities).map((each) => readQuantity(object(each))),
    units: array(raw.units).map((each) => readUnit(object(each), fits, steps.length)),
    stepTime: number(raw.step_ns),
    namelessFiles: number(raw.nameless_files),
  };
}

/** Lengths of runs, in turn of 1 and 0. */
function readRuns(runs: readonly number[], cells: number): Uint8Array {
  const recorded = new Uint8Array(cells);
  let at = 0;
  runs.forEach((run, i) => {
    if (i % 2 === 0) recorded.fill(1, at, at + run);
    at += run;
  });
  if (at !== cells) throw new Error(`the list of recorded steps is of ${at} cells instead of ${cells}`);
  return recorded;
}

function readQuantity(raw: Json): Quantity {
  return {
    name: text(raw.name),
    title: text(raw.title),
    doc: text(raw.doc),
    unit: text(raw.unit),
    quantum: number(raw.quantum) || 1,
    lowIsBad: raw.low_is_bad === true,
    compares: raw.compares === true,
    least: number(raw.least),
    low: number(raw.low),
    middle: number(raw.middle),
    high: number(raw.high),
    most: number(raw.most),
  };
}

function readUnit(raw: Json, fits: (rank: number) => boolean, steps: number): Unit {
  const [rank, step] = array(raw.worst).map(number);
  return {
    unit: text(raw.unit),
    cause: text(raw.cause),
    named: raw.named === true,
    cost: number(raw.cost_ns),
    alone: number(raw.alone_ns),
    error: maybeNumber(raw.error_ns),
    steps: number(raw.steps),
    firstStep: maybeNumber(raw.first_step),
    lastStep: maybeNumber(raw.last_step),
    evidence: text(raw.evidence),
    advice: text(raw.advice),
    ranks: array(raw.ranks).map(number).filter(fits),
    quantity: text(raw.quantity),
    worst: rank !== undefined && step !== undefined && fits(rank) && step >= 0 && step < steps ? [rank, step] : null,
  };
}

/** Ranks whose recording is not whole, by status. */
export function lostRanks(job: Job): Map<string, JobRank[]> {
  const lost = new Map<string, JobRank[]>();
  for (const rank of job.ranks) {
    if (rank.status === "whole") continue;
    const others = lost.get(rank.status);
    if (others) others.push(rank);
    else lost.set(rank.status, [rank]);
  }
  return lost;
}

/** Why a rank has no cell in a step. */
export function whyLost(job: Job, rank: number, step: number): string {
  const { status, reason } = job.ranks[rank]!;
  if (status !== "whole" && status !== "cut") return reason === null ? status : `${status}: ${reason}`;
  if (job.recorded[rank * job.steps.length + step] === 0)
    return status === "cut" ? "not recorded: the file is cut" : "not recorded by this rank";
  return "unknown";
}
