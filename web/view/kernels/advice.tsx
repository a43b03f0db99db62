// Findings about a kernel as cards: gain, evidence, remedy and confidence.

import { pct } from "../../layout/cell_text.ts";
import { numberOf, textOf, type ReportTable } from "../../model/recording/report.ts";

export function Advice({ table }: { table: ReportTable | null }) {
  if (table === null || table.rows.length === 0)
    return (
      <section class="findings" aria-label="Findings">
        <h2>Findings</h2>
        <p class="quiet">No findings for this kernel.</p>
      </section>
    );
  return (
    <section class="findings" aria-label="Findings">
      <h2>Findings {table.rows.length > 1 && <small>gains can overlap and do not add up</small>}</h2>
      {table.rows.map((_, row) => (
        <Card key={row} table={table} row={row} />
      ))}
    </section>
  );
}

function Card({ table, row }: { table: ReportTable; row: number }) {
  const text = (column: string) => textOf(table, row, column);
  const gain = numberOf(table, row, "gain_pct");
  const refuted = text("would_change_if");
  const isLimit = text("kind") === "limit";
  return (
    <article class={`finding ${isLimit ? "medium" : "high"}`}>
      <header>
        <span class="severity">{isLimit ? "limit" : "cause"} · {text("rule")}</span>
        <h3>{text("title")}</h3>
        <span class="cost">{gain === null ? "gain unknown" : `saves up to ${pct(gain)} of the duration`}</span>
      </header>
      <ul>
        {(text("evidence") ?? "").split("; ").filter(Boolean).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <p class="remedy">
        <span aria-hidden="true">→ </span>
        {text("remedy")}
      </p>
      <p class="sure">
        {text("confidence") !== null && <>Confidence: {text("confidence")}. </>}
        {refuted !== null && refuted !== "" && <>This would change if {refuted}.</>}
      </p>
    </article>
  );
}
