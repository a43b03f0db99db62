// The headline of a recording of memory alone: who holds more at the end than halfway, from `growth`, and what the
// report says of the rest.

import { amount, grouped, moment } from "../../layout/time_text.ts";
import { noteOf, numberOf, tableOf, textOf, type Report, type ReportTable } from "../../model/recording/report.ts";
import type { Viewer } from "../../model/page/viewer.ts";

const FRAMES = 4; // of the stack: the owner and what called it

export function MemoryGrowth({ viewer, report }: { viewer: Viewer; report: Report }) {
  const table = tableOf(report, "growth");
  const row = table === null ? -1 : mostGrown(table);
  const said = report.verdict?.because ?? "";
  return (
    <section class="verdict growth" aria-label="Growth of memory">
      {table !== null && row >= 0 ? <Grown viewer={viewer} table={table} row={row} /> : <NoGrowth report={report} />}
      {said !== "" && <p class="also">In all, {said}.</p>}
    </section>
  );
}

function mostGrown(table: ReportTable): number {
  const grown = table.rows.map((_, row) => numberOf(table, row, "grown_bytes") ?? 0);
  const most = Math.max(0, ...grown);
  return most > 0 ? grown.indexOf(most) : -1;
}

function Grown({ viewer, table, row }: { viewer: Viewer; table: ReportTable; row: number }) {
  const [owner, category, stack] = ["owner", "category", "stack"].map((name) => textOf(table, row, name));
  const value = (name: string) => numberOf(table, row, name) ?? 0;
  const at = (name: string) => moment(value(name), viewer.length / 1000);
  const device = numberOf(table, row, "device");
  const counts = `${grouped(value("allocations"))} allocations, ${grouped(value("releases"))} releases`;
  const frames = callersOf(stack ?? "", owner ?? "");
  return (
    <>
      <h1 title={`${grouped(value("grown_bytes"))} bytes`}>
        {owner ?? category ?? "Memory of an unknown owner"} grows by {amount(value("grown_bytes"), "bytes")}
      </h1>
      <p class="because">
        {device === null ? "From " : `On GPU ${device}, from `}
        {amount(value("from_bytes"), "bytes")} at {at("from_ns")} to {amount(value("to_bytes"), "bytes")} at{" "}
        {at("to_ns")}; {counts}.{" "}
        <button class="handle" onClick={() => viewer.openTable("growth", row)}>All that grows or shrinks</button>
      </p>
      {frames.length > 1 && <p class="also">{frames.join(" ← ")}</p>}
    </>
  );
}

/** The frame of the owner and those that called it, innermost first. */
function callersOf(stack: string, owner: string): string[] {
  const frames = stack.split(";").filter((frame) => frame !== "").reverse();
  const at = frames.indexOf(owner);
  return frames.slice(Math.max(0, at), Math.max(0, at) + FRAMES);
}

function NoGrowth({ report }: { report: Report }) {
  const note = noteOf(report, "growth");
  return (
    <>
      <h1>{note === null ? "No memory grows" : "Growth is unknown"}</h1>
      <p class="because">{note ?? "No stack holds more at the end than halfway."}</p>
    </>
  );
}
