// Chooses the columns of a table that are shown, copied and saved. At least one remains.

import { headingOf } from "../../model/table/heading.ts";
import type { ReportTable } from "../../model/recording/report.ts";
import { shownColumns } from "../../model/table/table_shape.ts";
import { useMenu } from "../parts/use_menu.ts";

interface Props {
  table: ReportTable;
  hidden: readonly string[];
  onHide: (hidden: string[]) => void;
}

export function ColumnMenu({ table, hidden, onHide }: Props) {
  const menu = useMenu();
  const shown = shownColumns(table, hidden);
  const label =
    shown.length === table.columns.length ? "Columns" : `Columns: ${shown.length} of ${table.columns.length}`;
  const change = (name: string, isShown: boolean) =>
    onHide(isShown ? hidden.filter((each) => each !== name) : [...hidden, name]);
  return (
    <details class="menu" {...menu}>
      <summary>{label}</summary>
      <div role="group" aria-label="Columns to show">
        {table.columns.map((column, at) => (
          <label key={column.name} title={column.doc}>
            <input
              type="checkbox" checked={shown.includes(at)} disabled={shown.length === 1 && shown[0] === at}
              onChange={(event) => change(column.name, event.currentTarget.checked)}
            />{" "}
            {headingOf(column)}
          </label>
        ))}
        <button disabled={hidden.length === 0} onClick={() => onHide([])}>Show all</button>
      </div>
    </details>
  );
}
