// Copies or saves all shown rows of a table: CSV with exact values and the program's column names, or Markdown as
// shown.

import { markdown } from "../../layout/markdown.ts";
import type { ColumnFormat } from "../../layout/column_format.ts";
import { grouped, plural } from "../../layout/time_text.ts";
import type { ShownRows } from "../../model/table/table_shape.ts";
import { CSV, textOfRows, type TextFormat } from "../../model/table/table_text.ts";
import { copyText } from "../parts/clipboard.ts";
import { download, fileName } from "../parts/download.ts";
import { SaveMenu, type SaveAction } from "../page/save_menu.tsx";

interface Props {
  recording: string; // name
  shown: ShownRows;
  columns: readonly number[];
  formats: readonly ColumnFormat[];
}

export function TableMenu({ recording, shown, columns, formats }: Props) {
  const { table, rows } = shown;
  const count = plural(rows.length, "row");
  const textAs = (format: TextFormat, progress: (text: string) => void) =>
    textOfRows(shown, columns, format, (done) => done < rows.length && progress(`${grouped(done)} of ${count}`));
  const save = (format: TextFormat, type: string, ending: string): SaveAction["run"] => async (progress) => {
    download(await textAs(format, progress), type, fileName(recording, table.name, ending));
    return `Saved ${count}`;
  };
  const copy = (format: TextFormat): SaveAction["run"] => async (progress) => {
    const text = (await textAs(format, progress)).join("");
    if (!(await copyText(text))) throw new Error("copying was blocked by the browser");
    return `Copied ${count}`;
  };
  const readable = markdown(formats);
  const [values, text] = ["all shown rows with exact values", "all shown rows as a Markdown table"];
  const actions: SaveAction[] = [
    { label: "Copy CSV", title: `Copy ${values}`, run: copy(CSV) },
    { label: "Save CSV", title: `Save ${values}`, run: save(CSV, "text/csv", "csv") },
    { label: "Copy Markdown", title: `Copy ${text}`, run: copy(readable) },
    { label: "Save Markdown", title: `Save ${text}`, run: save(readable, "text/markdown", "md") },
  ];
  return <SaveMenu about={`table ${table.name}`} actions={actions} />;
}
