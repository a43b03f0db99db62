// For recordings without device work: what they do contain, with links to it.

import { amount, grouped, plural } from "../../layout/time_text.ts";
import { cellOf, numberOf, tableOf, textOf, type Report } from "../../model/recording/report.ts";
import { showRow } from "../../model/table/row_navigation.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { FiguresTable } from "../parts/figures_table.tsx";

export function RecordedData({ viewer, report }: { viewer: Viewer; report: Report }) {
  const samples = tableOf(report, "samples");
  const { lanes, kernels, sampled } = viewer.recording.manifest;
  const hasCharts = lanes.length > 0 || kernels.length === 0;
  const open = (page: "kernels" | "charts") => () => viewer.openPage(page);
  const hasValues = lanes.some((lane) => lane.kind === "value");
  const filled = report.tables.filter((table) => table.rows.length > 0);
  return (
    <section class="verdict" aria-label="Recorded data">
      <p class="because">
        No device work was recorded.{" "}
        {filled.length + Number(hasValues) > 0 ? "The recording contains:" : "The recording contains no other data."}
      </p>
      <p class="buttons">
        {filled.map((table) => (
          <button key={table.name} onClick={() => viewer.openTable(table.name)}>
            {table.name} ({plural(table.row_count, "row")})
          </button>
        ))}
        {hasValues && <button onClick={() => viewer.goTo({ from: 0, to: viewer.length })}>Timeline</button>}
        {sampled.length > 0 && (
          <button onClick={open("kernels")}>Kernels with samples ({grouped(sampled.length)})</button>
        )}
        {hasCharts && <button onClick={open("charts")}>Charts</button>}
      </p>
      {samples && samples.rows.length > 0 && (
        <FiguresTable label="Samples" heads={["metric", "device", "samples", "mean", "min", "max"]}>
          {samples.rows.map((_, row) => (
            <tr key={row}>
              <th scope="row">
                <button class="handle" onClick={() => void showRow(viewer, report, samples, row)}>
                  {textOf(samples, row, "metric")}
                </button>
              </th>
              <td>{cellOf(samples, row, "device") ?? "–"}</td>
              <td>{grouped(numberOf(samples, row, "count") ?? 0)}</td>
              {["mean", "min", "max"].map((column) => (
                <td key={column}>{amount(numberOf(samples, row, column) ?? NaN, textOf(samples, row, "unit"))}</td>
              ))}
            </tr>
          ))}
        </FiguresTable>
      )}
    </section>
  );
}
