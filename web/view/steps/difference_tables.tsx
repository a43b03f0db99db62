// What differs between two ranges, of one recording or of two. A row leads to its events, in the second range if it has
// some there.

import { useMemo } from "preact/hooks";
import { causeOf } from "../../layout/colors.ts";
import { shortName } from "../../layout/short_name.ts";
import { duration, exact, grouped, signedDuration } from "../../layout/time_text.ts";
import { differenceOf, type Amount, type DifferenceRow } from "../../model/range/range_difference.ts";
import { showInRange } from "../../model/range/range_navigation.ts";
import type { Range } from "../../model/page/state.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { AnswerTable, type AnswerRow } from "../range/answer_table.tsx";
import { useRangeAnswer } from "../range/use_range_answer.ts";
import { Swatch } from "../parts/swatch.tsx";

export interface Place {
  label: string; // "A", "BASE"
  viewer: Viewer;
  range: Range;
}

const KINDS = [
  ["kernels", "Kernels"],
  ["idle", "Idle time by cause"],
  ["operators", "Operators and ranges"],
  ["calls", "Calls"],
  ["copies", "Copies and fills"],
  ["python", "Python functions"],
] as const;

export function DifferenceTables({ before, after, onShow }: { before: Place; after: Place; onShow?: (place: Place) => void }) {
  const old = useRangeAnswer(before.viewer, before.range);
  const now = useRangeAnswer(after.viewer, after.range);
  const found = useMemo(() => (old.answer && now.answer ? differenceOf(old.answer, now.answer) : null), [old.answer, now.answer]);
  const error = old.error ?? now.error;
  if (error !== undefined) return <p class="warning">{error}</p>;
  if (found === null) return <p class="quiet">Reading events…</p>;
  const show = ({ table, name, after: there }: DifferenceRow) => () => {
    const place = there === null ? before : after;
    void showInRange(place.viewer, place.range, table, name).then(() => onShow?.(place));
  };
  const rowsOf = (rows: readonly DifferenceRow[]): AnswerRow[] =>
    rows.map((row) => ({
      name: row.name,
      label: row.table === "gap" ? <CauseName name={row.name} /> : shortName(row.name),
      cells: [timeText(row.before), timeText(row.after), signedDuration(row.ns), countText(row)],
      title: `${row.before === null ? "nothing" : exact(row.before.ns)} in ${before.label}, ${row.after === null ? "nothing" : exact(row.after.ns)} in ${after.label}`,
      onShow: show(row),
    }));
  return (
    <div class="answer-tables differences-of-ranges" data-answered={`${old.answer!.range.from} ${now.answer!.range.from}`}>
      {KINDS.map(([kind, title]) => (
        <AnswerTable key={kind} title={title} heads={["name", before.label, after.label, "difference", "count"]} rows={rowsOf(found[kind])} />
      ))}
    </div>
  );
}

function CauseName({ name }: { name: string }) {
  const { code, letter } = causeOf(name);
  return (
    <>
      <Swatch code={code} letter={letter} /> {name}
    </>
  );
}

const timeText = (amount: Amount | null): string => (amount === null ? "–" : duration(amount.ns));

/** Nothing where counts mean nothing, as for causes. */
function countText({ before, after }: DifferenceRow): string {
  const [old, now] = [before?.count ?? 0, after?.count ?? 0];
  if (old + now === 0) return "";
  return old === now ? grouped(now) : `${grouped(old)} → ${grouped(now)}`;
}
