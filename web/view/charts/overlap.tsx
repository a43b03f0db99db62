// Pairs of work that can run concurrently: time with only the first, with both, with only the second.

import { FIRST_HUE, WORK } from "../../layout/colors.ts";
import { duration, exact } from "../../layout/time_text.ts";
import { numberOf, tableOf, textOf } from "../../model/recording/report.ts";
import type { ChartProps } from "../charts_page.tsx";
import { useFill } from "../parts/use_fill.ts";
import { MissingChart, ChartSection } from "./chart_section.tsx";

const TITLE = "Overlap";
const SHOWN = 20; // pairs
const OTHER = FIRST_HUE + 1;

export function Overlap({ viewer, report }: ChartProps) {
  const fill = useFill();
  const table = tableOf(report, "overlap");
  if (table === null || table.rows.length === 0)
    return <MissingChart id="overlap" title={TITLE} report={report} table="overlap" otherwise="Overlap needs two kinds of device work or two active streams; the recording has neither." />;
  const pairs = table.rows.map((_, row) => {
    const value = (name: string) => numberOf(table, row, name) ?? 0;
    return { row, device: value("device"), a: textOf(table, row, "a") ?? "", b: textOf(table, row, "b") ?? "", onlyA: value("a_exposed_ns"), both: value("both_ns"), onlyB: value("b_exposed_ns") };
  });
  const longest = Math.max(1, ...pairs.map(({ onlyA, both, onlyB }) => onlyA + both + onlyB));
  return (
    <ChartSection id="overlap" title={TITLE} about={`Time in which only one of the two ran (exposed) and in which both ran. Full width: ${duration(longest)}.${pairs.length > SHOWN ? ` First ${SHOWN} of ${table.row_count} pairs.` : ""}`}>
      <ul class="pairs">
        {pairs.slice(0, SHOWN).map(({ row, device, a, b, onlyA, both, onlyB }) => (
          <li key={row}>
            <button class="handle" onClick={() => viewer.openTable("overlap", row)}>
              GPU {device}: {a} and {b}
            </button>
            <div class="segments">
              {([[`${a} only`, onlyA, fill(WORK), ""], ["both", both, fill(OTHER), "both"], [`${b} only`, onlyB, fill(FIRST_HUE), "hatched"]] as const).map(([name, ns, color, kind]) => (
                <span key={name} class={kind} title={`${name}: ${exact(ns)}`} style={{ width: `${(ns / longest) * 100}%`, backgroundColor: color }} />
              ))}
            </div>
            <small>
              {a} only: {duration(onlyA)} · both: {duration(both)} · {b} only: {duration(onlyB)}
            </small>
          </li>
        ))}
      </ul>
    </ChartSection>
  );
}
