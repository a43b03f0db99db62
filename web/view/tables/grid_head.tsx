// The head of a column: its name, the unit of its values, and the order. Numbers sort descending first, texts
// ascending; a third click restores the order of the report.

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
  const isSecond = mine !== null && mine.descending !== firstWay;
  const next = isSecond ? null : { column: at, descending: mine === null ? firstWay : !firstWay };
  const way = mine?.descending ? "descending" : "ascending";
  const kind = isNumeric(column) ? "number" : "";
  const sort = mine === null ? "none" : way;
  return (
    <th role="columnheader" data-column={column.name} aria-colindex={at + 1} aria-sort={sort} class={kind}>
      <button title={columnDoc({ ...column, unit: format.unit })} onClick={() => onOrder(next)}>
        {format.heading}
        {format.unit !== "" && <small> ({format.unit})</small>}
        <span aria-hidden="true">{{ none: "", descending: " ▾", ascending: " ▴" }[sort]}</span>
      </button>
    </th>
  );
}
