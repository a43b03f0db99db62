// The verdict (faster, slower, same or inconclusive), the reason, and the metrics behind it.

import { pct } from "../../layout/cell_text.ts";
import { amount, exact } from "../../layout/time_text.ts";
import { headingOf } from "../../model/table/heading.ts";
import { numberOf, tableOf, textOf, type Report, type ReportTable } from "../../model/recording/report.ts";
import { unbroken } from "../parts/unbroken.tsx";
import { FiguresTable } from "../parts/figures_table.tsx";

export function ComparisonVerdict({ report }: { report: Report }) {
  const word = report.verdict?.name ?? "";
  const isShownAbove = (line: string) => report.trust.some(({ text }) => text === line);
  const [first = "", ...others] = report.lead.filter((line) => !isShownAbove(line));
  return (
    <section class="verdict" aria-label="Verdict">
      <h1>{word}</h1>
      <p class="because">{unbroken(first.startsWith(word) ? first.slice(word.length).trim() : first)}</p>
      {others.map((line) => (
        <p key={line}>{unbroken(line)}</p>
      ))}
    </section>
  );
}

export function Metrics({ report }: { report: Report }) {
  const table = tableOf(report, "metrics");
  if (table === null || table.rows.length === 0) return null;
  return (
    <FiguresTable label="Metrics" heads={["metric", "BASE", "NEW", "change", "95 % interval", "verdict", "noise"]}>
      {table.rows.map((_, row) => (
        <tr key={row} title={textOf(table, row, "because") ?? undefined}>
          <th scope="row">{headingOf({ name: textOf(table, row, "metric") ?? "" })}</th>
          <Side table={table} row={row} side="base" />
          <Side table={table} row={row} side="new" />
          <td>{signed(numberOf(table, row, "change_pct"))}</td>
          <td>{interval(numberOf(table, row, "low_pct"), numberOf(table, row, "high_pct"))}</td>
          <td>{textOf(table, row, "verdict")}</td>
          <td>{share(numberOf(table, row, "noise_pct"))}</td>
        </tr>
      ))}
    </FiguresTable>
  );
}

function Side({ table, row, side }: { table: ReportTable; row: number; side: "base" | "new" }) {
  const time = numberOf(table, row, `${side}_ns`);
  if (time !== null) return <td title={exact(Math.round(time))}>{amount(time, "ns")}</td>;
  const [size, energy] = [numberOf(table, row, `${side}_bytes`), numberOf(table, row, `${side}_j`)];
  if (size !== null) return <td>{amount(size, "bytes")}</td>;
  return <td>{energy === null ? "–" : amount(energy, "J")}</td>;
}

const share = (value: number | null): string => (value === null ? "–" : pct(value));

function signed(value: number | null): string {
  if (value === null) return "–";
  const size = Math.abs(value);
  const text = `${size.toFixed(size !== 0 && size < 0.05 ? 2 : 1)} %`;
  if (value === 0) return text;
  return value > 0 ? `+${text}` : `−${text}`;
}

const interval = (low: number | null, high: number | null): string =>
  low === null || high === null ? "–" : `${signed(low)} to ${signed(high)}`;
