// An engine step of a server in words.

import type { EngineIteration } from "../model/recording/iterations.ts";
import { duration, plural } from "./time_text.ts";

/** Number, phase, batch, wall time and the idle time before it. */
export function textOfIteration(it: EngineIteration): { name: string; lines: string[] } {
  const counts = [
    it.requests === null ? "" : plural(it.requests, "request"),
    it.prefillTokens ? plural(it.prefillTokens, "prompt token") : "",
    it.decodeTokens ? plural(it.decodeTokens, "decoded token") : "",
  ];
  const batch = counts.filter((text) => text !== "").join(", ");
  const times = [
    it.wall === null ? "wall time unknown" : `wall ${duration(it.wall)}`,
    it.idleBefore === null ? "" : `idle before its first op ${duration(it.idleBefore)}`,
  ];
  const lines = [
    batch === "" ? "batch not recorded" : batch,
    times.filter((text) => text !== "").join(", "),
    ...(it.state === "steady" ? [] : [it.state === "outside" ? "" : it.state]),
    ...(it.why === null ? [] : [it.why]),
    ...(it.annotation === null ? [] : [it.annotation]),
  ];
  return { name: `iteration ${it.number}: ${it.phase}`, lines: lines.filter((line) => line !== "") };
}
