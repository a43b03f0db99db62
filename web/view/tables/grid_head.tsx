// The head of a column: its name, the unit of its values, and the order. Numbers sort descending first, texts ascending;
// a third click restores the order of the report.

import { columnDoc, isNumeric } from "../../layout/cell_text.ts";
import type { ColumnFormat } from "../../layout/column_format.ts";
import type { ReportColumn } from "../../model/recording/report.ts";
import type { Order } from "../../model/table/table_order.ts";

interface Props {
  column: ReportColumn;
  format: ColumnFormat;
  at: number;
  order: Order | null;
  onOrder: (order: Order | null) => void;
}

export function Head({ column, format, at, order, onOrder }: Props) {
  const mine = order?.column === at ? order : null;
  const firstWay = isNumeric(column);
  const next = mine === null ? { column: at, descending: firstWay } : mine.descending === firstWay ? { column: at, descending: !firstWay } : null;
  return (
    <th role="columnheader" data-column={column.name} aria-colindex={at + 1} aria-sort={mine === null ? "none" : mine.descending ? "descending" : "ascending"} class={isNumeric(column) ? "number" : ""}>
      <button title={columnDoc({ ...column, unit: format.unit })} onClick={() => onOrder(next)}>
        {format.heading}
        {format.unit !== "" && <small> ({format.unit})</small>}
        <span aria-hidden="true">{mine === null ? "" : mine.descending ? " ▾" : " ▴"}</span>
      </button>
    </th>
  );
}
