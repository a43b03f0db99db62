// The table `whatif` as bars: the recorded step, the step without the profiler, each change alone, and the plan, each
// with the range of its step. Every number is a cell of the table; only lengths of bars are computed. Without rows the
// table's notes say why there is no prediction and what to record.

import { unbroken } from "../parts/unbroken.tsx";
import { pct } from "../../layout/cell_text.ts";
import { DIMMED, WORK } from "../../layout/colors.ts";
import { duration, exact } from "../../layout/time_text.ts";
import { numberOf, textOf, type ReportTable } from "../../model/recording/report.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { SavePicture } from "../pictures/save_picture.tsx";
import { useFill } from "../parts/use_fill.ts";

interface Prediction {
  kind: string;
  change: string;
  step: number;
  low: number | null;
  high: number | null;
  gain: number | null;
  gainLow: number | null;
  gainHigh: number | null;
  confidence: string | null;
  assumes: string | null;
}

function predictionsOf(table: ReportTable): Prediction[] {
  return table.rows.map((_, row) => ({
    kind: textOf(table, row, "kind") ?? "",
    change: textOf(table, row, "change") ?? "",
    step: numberOf(table, row, "step_ns") ?? 0,
    low: numberOf(table, row, "low_ns"),
    high: numberOf(table, row, "high_ns"),
    gain: numberOf(table, row, "gain_pct"),
    gainLow: numberOf(table, row, "gain_low_pct"),
    gainHigh: numberOf(table, row, "gain_high_pct"),
    confidence: textOf(table, row, "confidence"),
    assumes: textOf(table, row, "assumes"),
  }));
}

const GROUPS: readonly [title: string, kinds: readonly string[]][] = [
  ["", ["recorded", "baseline", "floor"]],
  ["Each change alone", ["single"]],
  ["Plan: each change on top of those above", ["plan"]],
];

const ABOUT = "time of a step, by replaying the recording with something changed";

export function PredictedChanges({ viewer, table }: { viewer: Viewer; table: ReportTable | null }) {
  if (table === null || (table.rows.length === 0 && table.notes.length === 0)) return null;
  const all = predictionsOf(table);
  const longest = Math.max(1, ...all.map((each) => Math.max(each.step, each.high ?? 0)));
  return (
    <section class="predictions" aria-label="Predicted changes">
      {all.length > 0 && <SavePicture title="Predicted changes" about={ABOUT} />}
      <h2>Predicted changes <small>{ABOUT}</small></h2>
      {all.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">change</th>
              <th scope="col">
                <span class="spoken">bar of the step</span>
              </th>
              <th scope="col">step</th>
              <th scope="col">gain</th>
              <th scope="col">confidence</th>
            </tr>
          </thead>
          {GROUPS.map(([title, kinds]) => (
            <Group key={title} title={title} rows={all.filter((each) => kinds.includes(each.kind))} longest={longest} />
          ))}
        </table>
      )}
      <PlanSum all={all} />
      {table.notes.map((note) => (
        <p key={note} class="quiet">{unbroken(note)}</p>
      ))}
      {all.length > 0 && (
        <p>
          <button onClick={() => viewer.openTable("whatif")}>Show the table</button>
        </p>
      )}
    </section>
  );
}

function Group({ title, rows, longest }: { title: string; rows: readonly Prediction[]; longest: number }) {
  if (rows.length === 0) return null;
  return (
    <tbody>
      {title !== "" && (
        <tr class="group">
          <th colSpan={5} scope="rowgroup">{title}</th>
        </tr>
      )}
      {rows.map((each, i) => (
        <Row key={i} shown={each} longest={longest} />
      ))}
    </tbody>
  );
}

function Row({ shown, longest }: { shown: Prediction; longest: number }) {
  const { kind, change, step, low, high, gain, gainLow, gainHigh, confidence, assumes } = shown;
  return (
    <tr class={kind}>
      <th scope="row">
        {change}
        {assumes !== null && <small>assumes: {assumes}</small>}
      </th>
      <td class="predicted">
        <Bar shown={shown} longest={longest} />
      </td>
      <td class="number" title={exact(step)}>
        {duration(step)} {low !== null && high !== null && <small>{`${duration(low)} to ${duration(high)}`}</small>}
      </td>
      <td class="number gain">
        {gain !== null && pct(gain)}
        {gainLow !== null && gainHigh !== null && <small>{`${pct(gainLow)} to ${pct(gainHigh)}`}</small>}
      </td>
      <td>{confidence}</td>
    </tr>
  );
}

/** The step, and its range as an error bar. */
function Bar({ shown: { kind, step, low, high }, longest }: { shown: Prediction; longest: number }) {
  const fill = useFill()(kind === "recorded" || kind === "floor" ? DIMMED : WORK);
  const share = (ns: number) => `${(100 * ns) / longest}%`;
  return (
    <span class="track" aria-hidden="true">
      <span class="fill" style={{ width: share(step), background: fill }} />
      {low !== null && high !== null && (
        <span class="range" style={{ left: share(low), width: share(high - low) }}>
          <i class="end" />
          <i class="line" />
          <i class="end" />
        </span>
      )}
    </span>
  );
}

/** The last row of a plan has all of its changes. */
function PlanSum({ all }: { all: readonly Prediction[] }) {
  const last = all.findLast((each) => each.kind === "plan");
  if (last === undefined || last.gain === null) return null;
  const than = all.some((each) => each.kind === "baseline") ? "without the profiler" : "recorded";
  return (
    <p class="sum">
      With the whole plan, a step takes <strong>{duration(last.step)}</strong>, <strong>{pct(last.gain)}</strong> less
      than {than}.
    </p>
  );
}
