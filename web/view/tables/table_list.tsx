// A list of table names with row counts, in the groups of the program's help. Those without rows are one line, which
// opens.

import { grouped, plural } from "../../layout/time_text.ts";
import { tableTitle } from "../../model/table/heading.ts";
import type { Manifest } from "../../model/recording/manifest.ts";
import type { ReportTable } from "../../model/recording/report.ts";

interface Props {
  tables: readonly ReportTable[];
  groups?: Manifest["table_groups"];
  shown: ReportTable;
  onShow: (name: string) => void;
}

export function TableList({ tables, groups = [], shown, onShow }: Props) {
  const full = tables.filter(({ row_count }) => row_count > 0);
  const empty = tables.filter(({ row_count }) => row_count === 0);
  const listed = new Set(groups.flatMap(({ tables }) => tables));
  const others = full.flatMap(({ name }) => (listed.has(name) ? [] : [name]));
  const parts = [...groups, { title: "Other", tables: others }];
  const entry = (table: ReportTable) => (
    <button
      key={table.name} aria-current={table === shown ? ("page" as const) : undefined} onClick={() => onShow(table.name)}
    >
      <span>{tableTitle(table.name)}</span> {table.row_count > 0 && <small>{grouped(table.row_count)}</small>}
    </button>
  );
  return (
    <nav class="list" aria-label="Tables">
      {parts.map(({ title, tables: names }) => {
        const own = full.filter(({ name }) => names.includes(name));
        if (own.length === 0) return null;
        return (
          <section key={title} aria-label={title}>
            {groups.length > 0 && <h2>{title}</h2>}
            {own.map(entry)}
          </section>
        );
      })}
      {empty.length > 0 && (
        <details open={empty.includes(shown)}>
          <summary>{plural(empty.length, "table")} without rows</summary>
          {empty.map(entry)}
        </details>
      )}
    </nav>
  );
}
