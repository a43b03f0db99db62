// Copies or saves all shown rows of a table: CSV with exact values and the program's column names, or Markdown as shown.

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
  const textAs = (format: TextFormat, progress: (text: string) => void) =>
    textOfRows(shown, columns, format, (done) => done < rows.length && progress(`${grouped(done)} of ${plural(rows.length, "row")}`));
  const save = async (format: TextFormat, type: string, ending: string, progress: (text: string) => void) => {
    download(await textAs(format, progress), type, fileName(recording, table.name, ending));
    return `Saved ${plural(rows.length, "row")}`;
  };
  const copy = async (format: TextFormat, progress: (text: string) => void) => {
    const text = (await textAs(format, progress)).join("");
    if (!(await copyText(text))) throw new Error("copying was blocked by the browser");
    return `Copied ${plural(rows.length, "row")}`;
  };
  const readable = markdown(formats);
  const actions: SaveAction[] = [
    { label: "Copy CSV", title: "Copy all shown rows with exact values", run: (progress) => copy(CSV, progress) },
    { label: "Save CSV", title: "Save all shown rows with exact values", run: (progress) => save(CSV, "text/csv", "csv", progress) },
    { label: "Copy Markdown", title: "Copy all shown rows as a Markdown table", run: (progress) => copy(readable, progress) },
    { label: "Save Markdown", title: "Save all shown rows as a Markdown table", run: (progress) => save(readable, "text/markdown", "md", progress) },
  ];
  return <SaveMenu about={`table ${table.name}`} actions={actions} />;
}
