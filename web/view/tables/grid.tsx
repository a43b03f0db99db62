// The rows of a table. Only rows near the visible part are on the page, so that thousands scroll as smoothly as ten.
// Arrows move the active row, Enter opens it; a click on a column head sorts by it.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { cellText, columnDoc, exactCell, isNumeric } from "../../layout/cell_text.ts";
import { columnWidths } from "../../layout/column_widths.ts";
import type { ReportColumn, ReportTable } from "../../model/report.ts";
import type { Order } from "../../model/table_order.ts";

const ROW = 24; // css pixels
const OVERSCAN = 10; // extra rows on the page above and below the visible ones
const CELL = 18; // css pixels of padding and border in a cell
const NARROW = 600;
const MAX_TEXT = 56; // characters of the widest column
const MAX_TEXT_NARROW = 24;

interface Props {
  table: ReportTable;
  rows: number[]; // row numbers of the table, in display order
  order: Order | null;
  onOrder: (order: Order | null) => void;
  wanted: number | null;
  onOpen: ((row: number) => void) | null; // null: rows cannot be opened
}

export function Grid({ table, rows, order, onOrder, wanted, onOpen }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [active, setActive] = useState(0); // index into rows
  const [narrow, setNarrow] = useState(false);
  const widths = useMemo(() => columnWidths(table, narrow ? MAX_TEXT_NARROW : MAX_TEXT), [table, narrow]);

  useLayoutEffect(() => {
    const target = scroller.current!;
    const follow = () => {
      setHeight(target.clientHeight);
      setNarrow(target.clientWidth < NARROW);
    };
    follow();
    const observer = new ResizeObserver(follow);
    observer.observe(target);
    return () => observer.disconnect();
  }, []);

  const go = (place: number) => {
    const at = Math.min(Math.max(place, 0), rows.length - 1);
    setActive(at);
    const target = scroller.current!;
    const [first, last] = [at * ROW, (at + 2) * ROW]; // the head covers one row
    if (first < target.scrollTop) target.scrollTop = first;
    else if (last > target.scrollTop + target.clientHeight) target.scrollTop = last - target.clientHeight;
  };
  useLayoutEffect(() => {
    const place = wanted === null ? -1 : rows.indexOf(wanted);
    if (place >= 0) go(place);
  }, [wanted, table]);

  const press = (event: KeyboardEvent) => {
    if (event.target !== scroller.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(height / ROW) - 2);
    const steps: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: rows.length - 1 };
    const to = steps[event.key];
    if (to !== undefined) go(to);
    else if (event.key === "Enter" && onOpen !== null && rows[active] !== undefined) onOpen(rows[active]!);
    else return;
    event.preventDefault();
  };

  const first = Math.max(0, Math.floor(top / ROW) - OVERSCAN);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW) + OVERSCAN);
  return (
    <div
      class="grid"
      ref={scroller}
      tabIndex={0}
      role="grid"
      aria-label={`Rows of ${table.name}`}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={`row-${active}`}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={press}
    >
      <table role="presentation" style={{ width: `calc(${widths.reduce((sum, width) => sum + width, 0)}ch + ${widths.length * CELL}px)` }}>
        <colgroup>
          {widths.map((width, i) => (
            <col key={i} style={{ width: `calc(${width}ch + ${CELL}px)` }} />
          ))}
        </colgroup>
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={1}>
            {table.columns.map((column, at) => (
              <Head key={column.name} column={column} at={at} order={order} onOrder={onOrder} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {first > 0 && <tr style={{ height: `${first * ROW}px` }} />}
          {rows.slice(first, last).map((row, i) => {
            const place = first + i;
            return (
              <tr
                key={place}
                id={`row-${place}`}
                role="row"
                aria-rowindex={place + 2}
                aria-selected={place === active}
                class={onOpen ? "clickable" : ""}
                title={onOpen ? "Show on the timeline" : undefined}
                onClick={() => {
                  setActive(place);
                  if (onOpen && String(getSelection()) === "") onOpen(row);
                }}
              >
                {table.columns.map((column, at) => {
                  const cell = table.rows[row]![at] ?? null;
                  return (
                    <td key={column.name} role="gridcell" class={isNumeric(column) ? "number" : ""} title={exactCell(cell, column)}>
                      {cellText(cell, column)}
                    </td>
                  );
                })}
              </tr>
            );
          })}
          {last < rows.length && <tr style={{ height: `${(rows.length - last) * ROW}px` }} />}
        </tbody>
      </table>
    </div>
  );
}

/** Numbers sort descending first, texts ascending; a third click restores the order of the report. */
function Head({ column, at, order, onOrder }: { column: ReportColumn; at: number; order: Order | null; onOrder: (order: Order | null) => void }) {
  const mine = order?.column === at ? order : null;
  const firstWay = isNumeric(column);
  const next = mine === null ? { column: at, descending: firstWay } : mine.descending === firstWay ? { column: at, descending: !firstWay } : null;
  return (
    <th role="columnheader" aria-sort={mine === null ? "none" : mine.descending ? "descending" : "ascending"} class={isNumeric(column) ? "number" : ""}>
      <button title={columnDoc(column)} onClick={() => onOrder(next)}>
        {column.name}
        <span aria-hidden="true">{mine === null ? "" : mine.descending ? " ▾" : " ▴"}</span>
      </button>
    </th>
  );
}
