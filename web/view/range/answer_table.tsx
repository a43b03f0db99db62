// A table of a range answer. Each row leads to its events on the timeline. The first rows are shown, the others on
// request.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { grouped } from "../../layout/time_text.ts";

const FIRST_ROWS = 7;

export interface AnswerRow {
  name: string; // in full
  label: ComponentChildren;
  cells: readonly string[];
  title?: string; // exact values
  onShow: () => void;
}

interface Props {
  title: string;
  about?: string; // what is counted
  heads: readonly [name: string, ...cells: string[]];
  rows: readonly AnswerRow[];
  whole?: boolean | undefined; // all rows are shown; default: forgotten with the table
  onWhole?: (() => void) | undefined;
}

export function AnswerTable({ title, about, heads, rows, whole, onWhole }: Props) {
  const [own, setOwn] = useState(false);
  if (rows.length === 0) return null;
  const shown = (whole ?? own) ? rows : rows.slice(0, FIRST_ROWS);
  return (
    <section aria-label={title}>
      <h3 title={about}>{title}</h3>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ name, label, cells, title, onShow }, i) => (
            <tr key={i}>
              <th scope="row">
                <button class="link" title={`${name}\n${title ?? ""}`.trimEnd()} onClick={onShow}>{label}</button>
              </th>
              {cells.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < rows.length && (
        <button onClick={onWhole ?? (() => setOwn(true))}>Show all {grouped(rows.length)}</button>
      )}
    </section>
  );
}
