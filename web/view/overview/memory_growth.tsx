// The headline of a recording of memory alone: who holds more at the end than halfway, from `growth`.

import { amount, grouped, moment } from "../../layout/time_text.ts";
import { noteOf, numberOf, tableOf, textOf, type Report } from "../../model/recording/report.ts";
import type { Viewer } from "../../model/page/viewer.ts";

export function MemoryGrowth({ viewer, report }: { viewer: Viewer; report: Report }) {
  const table = tableOf(report, "growth");
  const row = table?.rows.reduce((best, _, each) => (by(each) > (best < 0 ? 0 : by(best)) ? each : best), -1) ?? -1;
  function by(each: number): number {
    return numberOf(table!, each, "grown_bytes") ?? 0;
  }
  if (table === null || row < 0) return <NoGrowth report={report} />;
  const [owner, category, stack] = ["owner", "category", "stack"].map((name) => textOf(table, row, name));
  const value = (name: string) => numberOf(table, row, name) ?? 0;
  const [grown, before, after, from, to] =
    ["grown_bytes", "from_bytes", "to_bytes", "from_ns", "to_ns"].map(value) as [number, number, number, number, number];
  const device = numberOf(table, row, "device");
  const [made, freed] = [value("allocations"), value("releases")].map(grouped);
  return (
    <section class="verdict growth" aria-label="Growth of memory">
      <h1 title={`${grouped(grown)} bytes`}>
        {owner ?? category ?? "Memory of an unknown owner"} grows by {amount(grown, "bytes")}
      </h1>
      <p class="because">
        {device === null ? "" : `On GPU ${device}: `}from {amount(before, "bytes")} at {moment(from, (to - from) / 100)}
        {" "}to {amount(after, "bytes")} at {moment(to, (to - from) / 100)}; {made} allocations, {freed} releases.
      </p>
      {stack && <p class="also">{stack.split(";").reverse().slice(0, FRAMES).join(" ← ")}</p>}
      <p class="also">
        <button class="handle" onClick={() => viewer.openTable("growth", row)}>All stacks that grow or shrink</button>
      </p>
    </section>
  );
}

const FRAMES = 4; // of the stack, innermost first

function NoGrowth({ report }: { report: Report }) {
  const note = noteOf(report, "growth");
  return (
    <section class="verdict growth" aria-label="Growth of memory">
      <h1>{note === null ? "No memory grows" : "Growth is not known"}</h1>
      <p class="because">{note ?? "No stack holds more at the end than halfway."}</p>
    </section>
  );
}
