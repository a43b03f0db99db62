// What differs between two ranges, of one recording or of two. A row leads to its events, in the second range if it has
// some there.

import { useMemo } from "preact/hooks";
import { causeOf } from "../../layout/colors.ts";
import { duration, exact, grouped, signedDuration } from "../../layout/time_text.ts";
import { differenceOf, type Amount, type DifferenceRow } from "../../model/range/range_difference.ts";
import { showInRange } from "../../model/range/range_navigation.ts";
import type { Range } from "../../model/recording/range.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { AnswerTable, type AnswerRow } from "../range/answer_table.tsx";
import { launchedIn } from "../../model/range/launched_work.ts";
import { useRangeAnswer } from "../range/use_range_answer.ts";
import { NameText } from "../parts/name_text.tsx";
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

type DifferenceTablesProps = { before: Place; after: Place; onShow?: (place: Place) => void };

export function DifferenceTables({ before, after, onShow }: DifferenceTablesProps) {
  const old = useRangeAnswer(before.viewer, before.range, launchedIn);
  const now = useRangeAnswer(after.viewer, after.range, launchedIn);
  const answers = [old.answer, now.answer] as const;
  const found = useMemo(() => (answers[0] && answers[1] ? differenceOf(answers[0], answers[1]) : null), answers);
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
      label: row.table === "gap" ? <CauseName name={row.name} /> : <NameText name={row.name} />,
      cells: [timeText(row.before), timeText(row.after), signedDuration(row.ns), countText(row)],
      title: `${timeIn(row.before, before)}, ${timeIn(row.after, after)}`,
      onShow: show(row),
    }));
  const heads = ["name", before.label, after.label, "difference", "count"] as const;
  const answered = `${old.answer!.range.from} ${now.answer!.range.from}`;
  return (
    <div class="answer-tables differences-of-ranges" data-answered={answered}>
      {KINDS.map(([kind, title]) => (
        <AnswerTable key={kind} title={title} heads={heads} rows={rowsOf(found[kind])} />
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

const timeIn = (amount: Amount | null, { label }: Place): string =>
  `${amount === null ? "nothing" : exact(amount.ns)} in ${label}`;
const timeText = (amount: Amount | null): string => (amount === null ? "–" : duration(amount.ns));

/** Nothing where counts mean nothing, as for causes. */
function countText({ before, after }: DifferenceRow): string {
  const [old, now] = [before?.count ?? 0, after?.count ?? 0];
  if (old + now === 0) return "";
  return old === now ? grouped(now) : `${grouped(old)} → ${grouped(now)}`;
}
