// The engine steps of a server, from the analysis `iterations`: one row per worker and step. Times are null where they
// are unknown: of steps without device work, and of those whose CUDA graphs were not recorded.

import type { Recording } from "./recording.ts";
import { tableOf, type Cell } from "./report.ts";

export interface EngineIteration {
  row: number; // of the analysis
  number: number; // in its worker
  process: string; // the worker
  annotation: string | null;
  phase: string;
  state: string;
  requests: number | null;
  prefillTokens: number | null;
  decodeTokens: number | null;
  end: number | null; // of its device work
  wall: number | null; // before that
  busy: number | null;
  idleBefore: number | null;
  idleGraph: number | null;
  idleInside: number | null;
  why: string | null; // it is slow
}

const COLUMNS = [
  "iteration", "process", "annotation", "phase", "state", "requests", "prefill_tokens", "decode_tokens", "gpu_end_ns",
  "wall_ns", "own_busy_ns", "idle_before_ns", "idle_graph_ns", "idle_inside_ns", "why",
];

const numberIn = (cell: Cell | undefined): number | null => (typeof cell === "number" ? cell : null);
const textIn = (cell: Cell | undefined): string | null => (typeof cell === "string" && cell !== "" ? cell : null);

/** All of them, in the order of the analysis; none if the report has none. */
export async function readIterations(recording: Recording): Promise<EngineIteration[]> {
  const table = tableOf(await recording.report(), "iterations");
  const at = COLUMNS.map((name) => table?.columns.findIndex((column) => column.name === name) ?? -1);
  if (table === null || at.includes(-1)) return [];
  const all: EngineIteration[] = [];
  await recording.rowsOf(table).scan(at, (cells, row) => {
    const [number, process, annotation, phase, state, ...rest] = at.map((column) => cells[column]);
    const [requests, prefillTokens, decodeTokens, end, wall, busy, idleBefore, idleGraph, idleInside, why] = rest;
    all.push({
      row,
      number: numberIn(number) ?? row,
      process: textIn(process) ?? "",
      annotation: textIn(annotation),
      phase: textIn(phase) ?? "unknown",
      state: textIn(state) ?? "outside",
      requests: numberIn(requests),
      prefillTokens: numberIn(prefillTokens),
      decodeTokens: numberIn(decodeTokens),
      end: numberIn(end),
      wall: numberIn(wall),
      busy: numberIn(busy),
      idleBefore: numberIn(idleBefore),
      idleGraph: numberIn(idleGraph),
      idleInside: numberIn(idleInside),
      why: textIn(why),
    });
  }, () => true);
  return all;
}

/** Finds the iteration of a slice of the timeline, whose time is its wall time. */
export class IterationTimes {
  private readonly byTime = new Map<string, EngineIteration>();

  constructor(all: readonly EngineIteration[]) {
    for (const each of all)
      if (each.end !== null && each.wall !== null) this.byTime.set(`${each.end - each.wall} ${each.end}`, each);
  }

  at(from: number, to: number): EngineIteration | undefined {
    return this.byTime.get(`${from} ${to}`);
  }
}
