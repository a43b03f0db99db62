// One table: filter and grouping, the copy button, and the rows.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { plural, grouped } from "../../layout/time_text.ts";
import { csvOf } from "../../model/csv.ts";
import type { ReportTable } from "../../model/report.ts";
import { rowTest } from "../../model/table_filter.ts";
import { groupedTable, isAdditive, orderedRows, type Order } from "../../model/table_order.ts";
import { CopyButton } from "../copy_button.tsx";
import { Grid } from "./grid.tsx";

interface Props {
  table: ReportTable;
  wanted: number | null; // a row to show
  onOpen: ((row: number) => void) | null; // null: rows cannot be opened
  level?: 1 | 2; // of the heading
  filter?: { text: string; set: (text: string) => void }; // default: forgotten with the table
  children?: ComponentChildren; // shown above the rows
}

export function TableView({ table, wanted, onOpen, level = 1, filter, children }: Props) {
  const [ownQuery, setOwnQuery] = useState("");
  const [query, setQuery] = filter === undefined ? [ownQuery, setOwnQuery] : [filter.text, filter.set];
  const [by, setBy] = useState<number | null>(null);
  const [order, setOrder] = useState<Order | null>(null);
  const test = useMemo(() => rowTest(table, query), [table, query]);
  const passed = useMemo(() => orderedRows(table, test.ok ? test.value : () => true, null), [table, test]);
  const shown = useMemo(() => (by === null ? table : groupedTable(table, passed, by)), [table, by, passed]);
  const rows = useMemo(() => {
    const kept = by === null && test.ok ? test.value : () => true;
    return orderedRows(shown, kept, order);
  }, [shown, test, order, by]);
  const Heading = level === 1 ? "h1" : "h2";
  const group = (column: number | null) => {
    setOrder(null);
    setBy(column);
  };
  return (
    <section class="table" aria-label={`Table ${table.name}`}>
      <header>
        <Heading>{table.name}</Heading>
        <input
          type="search"
          aria-label="Filter rows"
          placeholder={placeholder(table)}
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
        <Groups table={table} by={by} onGroup={group} />
        <CopyButton label="Copy CSV" title="Copy the visible rows with exact values" text={() => csvOf(shown, rows)} />
        <span class="status" role="status">
          {test.ok ? countText(table, rows.length, by !== null) : <span class="warning">{test.error}</span>}
        </span>
      </header>
      {children}
      {table.notes.map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
      {shown.rows.length > 0 ? (
        <>
          {rows.length === 0 && <p class="note">No rows match the filter.</p>}
          <Grid table={shown} rows={rows} order={order} onOrder={setOrder} wanted={wanted} onOpen={by === null ? onOpen : null} />
        </>
      ) : (
        table.notes.length === 0 && <p class="note">No rows.</p>
      )}
    </section>
  );
}

/** What the filter accepts, with an example condition on a column of the table. */
function placeholder(table: ReportTable): string {
  const column = table.columns.find((each) => each.unit === "ns" && isAdditive(each)) ?? table.columns.find((each) => each.type === "integer");
  return column ? `Filter: text or ${column.name}>${column.unit === "ns" ? "1ms" : "10"}` : "Filter: text";
}

function countText(table: ReportTable, shown: number, isGrouped: boolean): string {
  if (isGrouped) return plural(shown, "group");
  const all = plural(table.row_count, "row");
  const here = table.rows.length < table.row_count ? `; the page contains the first ${grouped(table.rows.length)}` : "";
  return shown === table.row_count ? all : `${grouped(shown)} of ${all}${here}`;
}

function Groups({ table, by, onGroup }: { table: ReportTable; by: number | null; onGroup: (column: number | null) => void }) {
  const texts = table.columns.flatMap((column, at) => (column.type === "text" || column.name === "device" ? [at] : []));
  if (texts.length === 0 || table.rows.length < 2) return null;
  return (
    <label>
      Group by{" "}
      <select value={by ?? ""} onChange={(event) => onGroup(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}>
        <option value="">–</option>
        {texts.map((at) => (
          <option key={at} value={at}>
            {table.columns[at]!.name}
          </option>
        ))}
      </select>
    </label>
  );
}
