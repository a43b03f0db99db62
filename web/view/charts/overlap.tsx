// Pairs of work that can run concurrently: time with only the first, with both, with only the second.

import { FIRST_HUE, WORK } from "../../layout/colors.ts";
import { duration, exact } from "../../layout/time_text.ts";
import { numberOf, tableOf, textOf } from "../../model/recording/report.ts";
import { useFill } from "../parts/use_fill.ts";
import { MissingChart, ChartSection, type ChartProps } from "./chart_section.tsx";

const TITLE = "Overlap";
const NEITHER = "Overlap needs two kinds of device work or two active streams; the recording has neither.";
const SHOWN = 20; // pairs
const OTHER = FIRST_HUE + 1;

export function Overlap({ viewer, report }: ChartProps) {
  const fill = useFill();
  const table = tableOf(report, "overlap");
  if (table === null || table.rows.length === 0)
    return <MissingChart id="overlap" title={TITLE} report={report} table="overlap" otherwise={NEITHER} />;
  const pairs = table.rows.map((_, row) => {
    const value = (name: string) => numberOf(table, row, name) ?? 0;
    const [onlyA, both, onlyB] = [value("a_exposed_ns"), value("both_ns"), value("b_exposed_ns")];
    const [a, b] = [textOf(table, row, "a") ?? "", textOf(table, row, "b") ?? ""];
    return { row, device: value("device"), a, b, onlyA, both, onlyB };
  });
  const longest = Math.max(1, ...pairs.map(({ onlyA, both, onlyB }) => onlyA + both + onlyB));
  const about = "Time in which only one of the two ran (exposed) and in which both ran.";
  const cut = pairs.length > SHOWN ? ` First ${SHOWN} of ${table.row_count} pairs.` : "";
  return (
    <ChartSection id="overlap" title={TITLE} about={`${about} Full width: ${duration(longest)}.${cut}`}>
      <ul class="pairs">
        {pairs.slice(0, SHOWN).map(({ row, device, a, b, onlyA, both, onlyB }) => (
          <li key={row}>
            <button class="handle" onClick={() => viewer.openTable("overlap", row)}>GPU {device}: {a} and {b}</button>
            <div class="segments">
              <Segment name={`${a} only`} ns={onlyA} of={longest} color={fill(WORK)} />
              <Segment name="both" ns={both} of={longest} color={fill(OTHER)} kind="both" />
              <Segment name={`${b} only`} ns={onlyB} of={longest} color={fill(FIRST_HUE)} kind="hatched" />
            </div>
            <small>{a} only: {duration(onlyA)} · both: {duration(both)} · {b} only: {duration(onlyB)}</small>
          </li>
        ))}
      </ul>
    </ChartSection>
  );
}

type SegmentProps = { name: string; ns: number; of: number; color: string; kind?: string };

function Segment({ name, ns, of, color, kind = "" }: SegmentProps) {
  const style = { width: `${(ns / of) * 100}%`, backgroundColor: color };
  return <span class={kind} title={`${name}: ${exact(ns)}`} style={style} />;
}
