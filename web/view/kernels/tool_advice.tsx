// What the tool that collected the counters says about the launch, in its words.

import { pct } from "../../layout/cell_text.ts";
import { numberOf, textOf, type ReportTable } from "../../model/recording/report.ts";

export function ToolAdvice({ tool, table }: { tool: string; table: ReportTable | null }) {
  if (table === null || table.rows.length === 0) return null;
  const name = tool || "the recording tool";
  return (
    <section class="tool-advice" aria-label={`Advice of ${name}`}>
      <h2>Advice of {name} <small>in its words; not checked by gpu-profile</small></h2>
      <ul>
        {table.rows.map((_, row) => {
          const text = (column: string) => textOf(table, row, column);
          const gain = numberOf(table, row, "gain_pct");
          const kind = text("gain_kind") === null ? "" : ` (${text("gain_kind")})`;
          const gainText = gain === null ? null : `estimated gain ${pct(gain)}${kind}`;
          return (
            <li key={row}>
              <p class="quiet">{[text("section"), text("rule"), text("kind"), gainText].filter(Boolean).join(" · ")}</p>
              <p>{text("text")}</p>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
