// One table: filter, grouping, columns, ways to save it, and the rows.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { columnFormats } from "../../layout/column_format.ts";
import { grouped, plural } from "../../layout/time_text.ts";
import { headingOf, tableTitle } from "../../model/table/heading.ts";
import type { Cell, ReportTable } from "../../model/recording/report.ts";
import { isAdditive, type Order } from "../../model/table/table_order.ts";
import { wholeRows, type TableRows } from "../../model/table/table_rows.ts";
import { orderOf, PLAIN, shownColumns, sortText, type TableShape } from "../../model/table/table_shape.ts";
import { ColumnMenu } from "./column_menu.tsx";
import { Grid } from "./grid.tsx";
import { TableMenu } from "./table_menu.tsx";
import { useShownRows, type Shaped } from "./use_shown_rows.ts";

interface Props {
  table: ReportTable;
  source?: TableRows; // default: the rows of the table
  recording: string; // name, for saved files
  wanted: number | null; // a row to show
  onOpen: ((row: number, cells: readonly Cell[]) => void) | null; // null: rows cannot be opened
  level?: 1 | 2; // of the heading
  shape?: { value: TableShape; set: (change: Partial<TableShape>) => void }; // default: forgotten with the table
  children?: ComponentChildren; // shown above the rows
}

export function TableView({ table, source, recording, wanted, onOpen, level = 1, shape: kept, children }: Props) {
  const [own, setOwn] = useState(PLAIN);
  const change = (change: Partial<TableShape>) => setOwn((before) => ({ ...before, ...change }));
  const { value: shape, set } = kept ?? { value: own, set: change };
  const all = useMemo(() => source ?? wholeRows(table), [table, source]);
  const shaped = useShownRows(table, all, shape);
  const { shown, problem } = shaped;
  const formats = useMemo(() => columnFormats(shown.table), [shown.table]);
  const columns = useMemo(() => shownColumns(shown.table, shape.hidden), [shown.table, shape.hidden]);
  const isGrouped = shown.table !== table;
  const order = orderOf(shown.table, shape.sort);
  const sort = (order: Order | null) => set({ sort: sortText(shown.table, order) });
  const Heading = level === 1 ? "h1" : "h2";
  return (
    <section class="table" aria-label={`Table ${table.name}`}>
      <header>
        <Heading>{tableTitle(table.name)}</Heading>
        <input
          type="search" aria-label="Filter rows" placeholder={placeholder(table)} value={shape.filter}
          onInput={(event) => set({ filter: event.currentTarget.value })}
        />
        <Groups table={table} by={shape.group} onGroup={(group) => set({ group, sort: "" })} />
        <ColumnMenu table={shown.table} hidden={shape.hidden} onHide={(hidden) => set({ hidden })} />
        <TableMenu recording={recording} shown={shown} columns={columns} formats={formats} />
        <span class={problem === null ? "status" : "status warning"} role="status">
          {problem ?? countText(table, all, shaped, isGrouped)}
        </span>
      </header>
      {children}
      {table.notes.map((note) => (
        <p key={note} class="note">{note}</p>
      ))}
      {shown.source.length > 0 ? (
        <>
          {shown.rows.length === 0 && <p class="note">No rows match the filter.</p>}
          <Grid {...{ shown, columns, formats, order, wanted }} onOrder={sort} onOpen={isGrouped ? null : onOpen} />
        </>
      ) : (
        table.notes.length === 0 && <p class="note">No rows.</p>
      )}
    </section>
  );
}

/** What the filter accepts, with an example condition on a column of the table. */
function placeholder(table: ReportTable): string {
  const time = table.columns.find((each) => each.unit === "ns" && isAdditive(each));
  const column = time ?? table.columns.find((each) => each.type === "integer");
  if (column === undefined) return "Filter: text";
  return `Filter: text or ${headingOf(column).replaceAll(" ", "_")}>${column.unit === "ns" ? "1ms" : "10"}`;
}

function countText(table: ReportTable, all: TableRows, { shown, read }: Shaped, isGrouped: boolean): string {
  if (read !== null) return `Reading rows: ${grouped(read)} of ${grouped(all.length)}`;
  if (isGrouped) return plural(shown.rows.length, "group");
  const here = all.length < table.row_count ? `; the page contains the first ${grouped(all.length)}` : "";
  const rows = plural(table.row_count, "row");
  return shown.rows.length === table.row_count ? rows : `${grouped(shown.rows.length)} of ${rows}${here}`;
}

function Groups({ table, by, onGroup }: { table: ReportTable; by: string; onGroup: (column: string) => void }) {
  const columns = table.columns.filter((column) => column.type === "text" || column.name === "device");
  if (columns.length === 0 || table.row_count < 2) return null;
  return (
    <label>
      Group by{" "}
      <select value={by} onChange={(event) => onGroup(event.currentTarget.value)}>
        <option value="">–</option>
        {columns.map((column) => (
          <option key={column.name} value={column.name}>{headingOf(column)}</option>
        ))}
      </select>
    </label>
  );
}
