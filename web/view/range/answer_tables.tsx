// A range answer as tables: kernels, idle time by cause, operators, calls, copies, Python functions.

import { useMemo } from "preact/hooks";
import { causeOf } from "../../layout/colors.ts";
import { amount, duration, exact, grouped, percent } from "../../layout/time_text.ts";
import type { RangeAnswer } from "../../model/range/range_answer.ts";
import { showInRange } from "../../model/range/range_navigation.ts";
import { tablesOf, totalOf, type RangeRow, type RangeTable } from "../../model/range/range_tables.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { NameText } from "../parts/name_text.tsx";
import { Swatch } from "../parts/swatch.tsx";
import { useViewerState } from "../parts/use_state.ts";
import { AnswerTable, type AnswerRow } from "./answer_table.tsx";

const CLIPPED = "Events with a part in the range; only that part counts.";
const OUTERMOST = {
  about: `${CLIPPED} Total: without calls inside a call of the same function. Self: without the events below it.`,
  heads: ["name", "total", "self", "count"],
} as const;
type CellsOf = (row: RangeRow) => string[];

export function AnswerTables({ viewer, answer }: { viewer: Viewer; answer: RangeAnswer }) {
  const tables = useMemo(() => tablesOf(answer), [answer]);
  const { whole } = useViewerState(viewer, (state) => state.drawer);
  const titled = (title: string) => ({
    title,
    whole: whole.includes(title),
    onWhole: () => viewer.set({ drawer: { ...viewer.state.drawer, whole: [...whole, title] } }),
  });
  const rowsOf = (table: RangeTable, cells: CellsOf, label?: (row: RangeRow) => string): AnswerRow[] =>
    table.map((row) => ({
      name: row.name,
      label: label?.(row) ?? <NameText name={row.name} />,
      cells: cells(row),
      title: `${exact(row.total_ns)}${row.self_ns === row.total_ns ? "" : `, self ${exact(row.self_ns)}`}`,
      onShow: () => void showInRange(viewer, answer.range, row.table, row.name),
    }));
  const kernelTime = totalOf(tables.kernels);
  const shareOf = (ns: number) => percent(kernelTime > 0 ? ns / kernelTime : 0);
  const timed: CellsOf = ({ total_ns, count }) => [duration(total_ns), grouped(count)];
  const ofKernel: CellsOf = ({ total_ns, count }) => [duration(total_ns), shareOf(total_ns), grouped(count)];
  const called = ({ name, thread }: RangeRow) => (threads > 1 && thread !== "" ? `${name} · ${thread}` : name);
  const nested = ({ total_ns, self_ns, count }: RangeRow) => [duration(total_ns), duration(self_ns), grouped(count)];
  const threads = new Set(tables.calls.map(({ thread }) => thread)).size;
  const shown = Object.values(tables).some((table) => table.length > 0) || answer.idle.length > 0;
  return (
    <div class="answer-tables">
      {!shown && <p class="quiet">No events in this range.</p>}
      <AnswerTable
        {...titled("Kernels")}
        about={CLIPPED}
        heads={["name", "time", "share", "count"]}
        rows={rowsOf(tables.kernels, ofKernel)}
      />
      <AnswerTable
        {...titled("Idle time by cause")}
        about="The share is of the length of the range."
        heads={["cause", "time", "share"]}
        rows={idleRows(viewer, answer)}
      />
      <AnswerTable {...titled("Operators and ranges")} {...OUTERMOST} rows={rowsOf(tables.operators, nested)} />
      <AnswerTable
        {...titled("Calls")}
        about={`${CLIPPED} By thread.`}
        heads={["name", "time", "count"]}
        rows={rowsOf(tables.calls, timed, called)}
      />
      <AnswerTable
        {...titled("Copies and fills")}
        about={`${CLIPPED} Of the bytes of a copy, the same share counts.`}
        heads={["kind", "time", "count", "size", "rate"]}
        rows={rowsOf(tables.copies, (row) => [...timed(row), ...sizeAndRate(row)])}
      />
      <AnswerTable {...titled("Python functions")} {...OUTERMOST} rows={rowsOf(tables.python, nested)} />
    </div>
  );
}

function sizeAndRate({ bytes, total_ns }: RangeRow): [string, string] {
  return [amount(bytes, "bytes"), total_ns > 0 ? amount((bytes / total_ns) * 1e9, "byte/s") : "–"];
}

function idleRows(viewer: Viewer, answer: RangeAnswer): AnswerRow[] {
  const devices = new Set(answer.idle.map(({ device }) => device)).size;
  const { from, to } = answer.range;
  return answer.idle.map(({ device, cause, ns }) => {
    const { code, letter } = causeOf(cause);
    return {
      name: cause,
      label: (
        <>
          <Swatch code={code} letter={letter} /> {cause}
          {devices > 1 ? ` · GPU ${device}` : ""}
        </>
      ),
      cells: [duration(ns), percent(ns / (to - from))],
      title: exact(ns),
      onShow: () => void showInRange(viewer, answer.range, "gap", cause),
    };
  });
}
