// The rows of a table. Only rows near the visible part are on the page, so that a million scroll as smoothly as ten;
// rows that are not in memory appear when they have been read. Arrows move the active row, Enter opens it; a click on a
// column head sorts by it.

import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { exactCell, isNumeric } from "../../layout/cell_text.ts";
import type { ColumnFormat } from "../../layout/column_format.ts";
import { columnWidths } from "../../layout/column_widths.ts";
import type { MeasureText } from "../../layout/fit.ts";
import { ROW, rowWindow, scrollTo } from "../../layout/row_window.ts";
import { grouped } from "../../layout/time_text.ts";
import type { Cell, ReportTable } from "../../model/recording/report.ts";
import type { Order } from "../../model/table/table_order.ts";
import type { ShownRows } from "../../model/table/table_shape.ts";
import { PRINT_WIDTH, usePrinting } from "../page/printing.ts";
import { Head } from "./grid_head.tsx";
import { NameText } from "../parts/name_text.tsx";

const CELL = 18; // css pixels of padding and border in a cell
const NARROW = 600;
const MAX_TEXT = 56; // characters of the widest column
const MAX_TEXT_NARROW = 24;
const CHAR = 8; // css pixels; on paper, where the sum of the widths must be known
const PRINTED_ROWS = 1000;

interface Props {
  shown: ShownRows;
  columns: readonly number[]; // to show
  formats: readonly ColumnFormat[];
  order: Order | null;
  onOrder: (order: Order | null) => void;
  wanted: number | null;
  onOpen: ((row: number, cells: readonly Cell[]) => void) | null; // null: rows cannot be opened
}

// Where a key leads from the active row.
function destination(key: string, active: number, rows: number, room: number): number | undefined {
  const page = Math.max(1, Math.floor(room / ROW) - 1);
  const steps: Record<string, number> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + page,
    PageUp: active - page,
    Home: 0,
    End: rows - 1,
  };
  return steps[key];
}

// The visible height of the list, and whether there is room for long texts.
function useSize(scroller: RefObject<HTMLDivElement | null>) {
  const [size, setSize] = useState({ height: 600, narrow: false });
  useLayoutEffect(() => {
    const target = scroller.current!;
    // On paper the element is as high as the list, and is measured before `printing` is known.
    const follow = () =>
      setSize({ height: Math.min(target.clientHeight, innerHeight), narrow: target.clientWidth < NARROW });
    follow();
    const observer = new ResizeObserver(follow);
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return size;
}

export function Grid({ shown, columns, formats, order, onOrder, wanted, onOpen }: Props) {
  const { table, source, rows } = shown;
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const { height, narrow } = useSize(scroller);
  const [active, setActive] = useState(0); // index into rows
  const printing = usePrinting();
  const cut = narrow || printing ? MAX_TEXT_NARROW : MAX_TEXT;
  const widths = useMemo(() => columnWidths(table, formats, cut, inDigits()), [table, formats, cut]);
  const [, draw] = useReducer((n: number, _: void) => n + 1, 0);
  const room = Math.max(ROW, height - ROW); // below the heads

  useEffect(() => {
    source.onLoad = draw;
    draw();
    return () => void (source.onLoad = () => {});
  }, [source]);

  const go = (place: number) => {
    const at = Math.min(Math.max(place, 0), rows.length - 1);
    const target = scroller.current!;
    setActive(at);
    target.scrollTop = scrollTo(at, rows.length, target.scrollTop, room);
    // The event follows with the next frame. Until then the active row would not be on the page.
    setTop(target.scrollTop);
  };
  useLayoutEffect(() => {
    const place = wanted === null ? -1 : Array.prototype.indexOf.call(rows, wanted);
    if (place >= 0) go(place);
  }, [wanted, table]);

  const open = (place: number) => {
    const cells = rows[place] === undefined ? null : source.row(rows[place]);
    if (onOpen && cells) onOpen(rows[place]!, cells);
  };
  const press = (event: KeyboardEvent) => {
    if (event.target !== scroller.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = destination(event.key, active, rows.length, room);
    if (to !== undefined) go(to);
    else if (event.key === "Enter" && onOpen !== null) open(active);
    else return;
    event.preventDefault();
  };
  const rowAt = (place: number) => {
    const choose = () => {
      setActive(place);
      if (String(getSelection()) === "") open(place);
    };
    const cells = source.row(rows[place]!);
    const given = { table, place, cells, columns, formats };
    return <Row key={place} {...given} isActive={place === active} canOpen={onOpen !== null} onChoose={choose} />;
  };

  const printed = { height: 0, first: 0, last: Math.min(rows.length, PRINTED_ROWS), offset: 0 };
  const window = printing ? printed : rowWindow(rows.length, top, room);
  return (
    <>
      <div
        class="grid"
        ref={scroller}
        tabIndex={0}
        role="grid"
        aria-label={`Rows of ${table.name}`}
        aria-rowcount={rows.length + 1}
        aria-colcount={table.columns.length}
        aria-activedescendant={active >= window.first && active < window.last ? `row-${active}` : undefined}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={press}
      >
        <Sheet window={window} columns={columns} widths={widths} printing={printing} rowAt={rowAt}>
          {columns.map((at) => (
            <Head key={at} column={table.columns[at]!} format={formats[at]!} {...{ at, order, onOrder }} />
          ))}
        </Sheet>
      </div>
      {printing && rows.length > PRINTED_ROWS && <p class="note">{cutText(rows.length)}</p>}
    </>
  );
}

/** Measures texts in the page's font, in widths of a digit, the unit `ch` of the columns. */
function inDigits(): MeasureText {
  const pen = document.createElement("canvas").getContext("2d")!;
  pen.font = getComputedStyle(document.body).font;
  const digit = pen.measureText("0").width || 1;
  return (text) => pen.measureText(text).width / digit;
}

const cutText = (rows: number): string =>
  `Rows 1 to ${grouped(PRINTED_ROWS)} of ${grouped(rows)}. Save the table as CSV for all rows.`;

interface SheetProps {
  window: { height: number; first: number; last: number; offset: number };
  columns: readonly number[];
  widths: readonly number[]; // characters, of all columns
  printing: boolean;
  rowAt: (place: number) => ComponentChildren;
  children: ComponentChildren; // the heads
}

// The rows of a window at their place in the height of all.
function Sheet({ window, columns, widths, printing, rowAt, children }: SheetProps) {
  const below = window.height - window.offset - (window.last - window.first) * ROW;
  const unit = printing ? `${CHAR}px` : "1ch";
  const widthOf = (at: number) => `calc(${widths[at]} * ${unit} + ${CELL}px)`;
  const chars = columns.reduce((sum, at) => sum + widths[at]!, 0);
  const zoom = printing ? Math.min(1, PRINT_WIDTH / (chars * CHAR + columns.length * CELL)) : undefined;
  return (
    <table role="presentation" style={{ width: `calc(${chars} * ${unit} + ${columns.length * CELL}px)`, zoom }}>
      <colgroup>
        {columns.map((at) => (
          <col key={at} style={{ width: widthOf(at) }} />
        ))}
      </colgroup>
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>{children}</tr>
      </thead>
      <tbody role="rowgroup">
        {window.offset > 0 && <tr style={{ height: `${window.offset}px` }} />}
        {Array.from({ length: Math.max(0, window.last - window.first) }, (_, i) => rowAt(window.first + i))}
        {below > 0 && <tr style={{ height: `${below}px` }} />}
      </tbody>
    </table>
  );
}

interface RowProps {
  table: ReportTable;
  place: number; // in display order
  cells: readonly Cell[] | null; // null: being read
  columns: readonly number[];
  formats: readonly ColumnFormat[];
  isActive: boolean;
  canOpen: boolean;
  onChoose: () => void;
}

function CellText({ cell, format }: { cell: Cell; format: ColumnFormat }) {
  return format.isName && typeof cell === "string" ? <NameText name={cell} /> : <>{format.text(cell)}</>;
}

function Row({ table, place, cells, columns, formats, isActive, canOpen, onChoose }: RowProps) {
  return (
    <tr
      id={`row-${place}`}
      role="row"
      aria-rowindex={place + 2}
      aria-selected={isActive}
      aria-busy={cells === null ? true : undefined}
      class={canOpen ? "clickable" : ""}
      title={canOpen ? "Show on the timeline" : undefined}
      onClick={onChoose}
    >
      {columns.map((at) => (
        <td
          key={at} role="gridcell" aria-colindex={at + 1} class={isNumeric(table.columns[at]!) ? "number" : ""}
          title={cells ? exactCell(cells[at] ?? null, table.columns[at]!) : undefined}
        >
          {cells ? <CellText cell={cells[at] ?? null} format={formats[at]!} /> : "…"}
        </td>
      ))}
    </tr>
  );
}
