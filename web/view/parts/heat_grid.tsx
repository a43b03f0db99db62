// A heat map of few rows (GPUs) and any number of columns (times, steps): one button per row that says its amounts, and
// under the pointer the cell. A click and the arrow keys choose a cell.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useFill } from "./use_fill.ts";

export interface HeatRow {
  name: string;
  amounts: string; // after the row
  spoken: string; // what a screen reader says
  shades: readonly (number | null)[]; // 0 to 1; null: unknown
}

interface Props {
  rows: readonly HeatRow[];
  code: number; // the colour of shade 1
  textOf: (row: number, column: number) => string;
  onChoose: (row: number, column: number | null) => void; // null: by keyboard, without a column
  axis?: ComponentChildren; // below the columns
  usual: ComponentChildren; // the line below, while nothing is pointed at
}

const MAX_HEIGHT = 224; // css pixels, of all rows
const ROW = 16;
const LEAST = 4;

export function HeatGrid({ rows, code, textOf, onChoose, axis, usual }: Props) {
  const color = useFill()(code);
  const [pointed, setPointed] = useState<{ row: number; column: number } | null>(null);
  const height = Math.max(LEAST, Math.min(ROW, Math.floor(MAX_HEIGHT / Math.max(1, rows.length))));
  const every = Math.ceil(13 / height); // rows that share a label
  const columnAt = (event: MouseEvent, count: number) => {
    const box = event.currentTarget as Element;
    const { left, width } = box.getBoundingClientRect();
    return Math.min(count - 1, Math.max(0, Math.floor(((event.clientX - left) / width) * count)));
  };
  return (
    <div class="heat-grid">
      <div onPointerLeave={() => setPointed(null)}>
        {rows.map(({ name, amounts, spoken, shades }, row) => (
          <div class="heat-row" key={name} style={{ height: `${height}px` }}>
            <span class="heat-name">{row % every === 0 && name}</span>
            <button
              aria-label={spoken}
              onClick={(event) => onChoose(row, event.detail === 0 ? null : columnAt(event, shades.length))}
              onPointerMove={(event) => setPointed({ row, column: columnAt(event, shades.length) })}
            >
              <svg viewBox={`0 0 ${shades.length} 1`} preserveAspectRatio="none" aria-hidden="true">
                {runsOf(shades).map(([from, to, shade]) => (
                  <rect key={from} x={from} width={to - from} height={1} fill={color} fill-opacity={shade} />
                ))}
              </svg>
            </button>
            <span class="heat-amount">{row % every === 0 && amounts}</span>
          </div>
        ))}
      </div>
      {axis && <div class="heat-axis">{axis}</div>}
      <p class="readout">{pointed === null ? usual : textOf(pointed.row, pointed.column)}</p>
    </div>
  );
}

const STEPS = 16; // shades that are told apart

/** Neighbouring columns of one shade are one rectangle; nothing is drawn for 0 and for what is unknown. */
export function runsOf(shades: readonly (number | null)[]): [from: number, to: number, shade: number][] {
  const runs: [number, number, number][] = [];
  shades.forEach((shade, column) => {
    const steps = Math.ceil((shade ?? 0) * STEPS) / STEPS;
    const last = runs[runs.length - 1];
    if (last && last[1] === column && last[2] === steps) last[1] = column + 1;
    else if (steps > 0) runs.push([column, column + 1, steps]);
  });
  return runs;
}
