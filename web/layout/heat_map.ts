// A matrix of ranks and steps, scaled down to what fits on the screen. A cell of the picture stands for one cell of the
// matrix or for several; then it shows the worst of them, so that one bad cell stays visible. Cells without a value are
// lost; a line or a column that has any lost cell is marked at its end, because a worse neighbour may cover it.

export interface HeatInput {
  cells: Float64Array; // by rank, then step; NaN: lost
  stride: number; // steps of a rank in `cells`
  rows: Uint32Array; // shown ranks in display order
  first: number; // shown step
  steps: number; // shown
  lowIsBad: boolean;
}

export interface HeatMap {
  columns: number;
  lines: number;
  shades: Uint8Array; // by line, then column; 0: all its cells are lost
  lineLost: Uint8Array;
  columnLost: Uint8Array;
  lineMeans: Float64Array; // the worst mean of its ranks; NaN without a value
  columnMeans: Float64Array;
}

export interface HeatPlace {
  columns: number;
  lines: number;
  cellWidth: number; // device pixels
  cellHeight: number;
}

// Device pixels, while the whole job is shown: larger cells say nothing more.
const MAX_CELL = { width: 64, height: 20 };

/** The largest whole cells that fit; if there are more rows or steps than pixels, a pixel for several. */
export function placeHeat(width: number, height: number, ranks: number, steps: number): HeatPlace {
  const place = fillHeat({ width, height }, ranks, steps);
  return {
    ...place, cellWidth: Math.min(MAX_CELL.width, place.cellWidth),
    cellHeight: Math.min(MAX_CELL.height, place.cellHeight),
  };
}

/** The same for a part of a job, whose picture is as large as that of the whole, so that a zoom enlarges the cells. */
export function placePart(whole: HeatPlace, ranks: number, steps: number): HeatPlace {
  return fillHeat({ width: whole.columns * whole.cellWidth, height: whole.lines * whole.cellHeight }, ranks, steps);
}

function fillHeat({ width, height }: { width: number; height: number }, ranks: number, steps: number): HeatPlace {
  const size = (room: number, count: number) => Math.max(1, Math.floor(room / Math.max(1, count)));
  const [columns, lines] = [Math.max(1, Math.min(steps, width)), Math.max(1, Math.min(ranks, height))];
  return { columns, lines, cellWidth: size(width, steps), cellHeight: size(height, ranks) };
}

const binOf = (at: number, count: number, bins: number): number => Math.floor((at * bins) / count);
/** The first item of a bin. */
const firstOf = (bin: number, count: number, bins: number): number => Math.ceil((bin * count) / bins);

const worse = (lowIsBad: boolean, a: number, b: number): boolean => (lowIsBad ? a < b : a > b);

export function heatMap(input: HeatInput, { columns, lines }: HeatPlace, shade: (value: number) => number): HeatMap {
  const { cells, stride, rows, first: firstStep, steps, lowIsBad } = input;
  const worst = new Float64Array(columns * lines).fill(NaN);
  const [lineLost, columnLost] = [new Uint8Array(lines), new Uint8Array(columns)];
  const lineMeans = new Float64Array(lines).fill(NaN);
  const [sums, counts] = [new Float64Array(steps), new Uint32Array(steps)];
  const columnOf = Uint32Array.from({ length: steps }, (_, step) => binOf(step, steps, columns));
  for (let place = 0; place < rows.length; place++) {
    const line = binOf(place, rows.length, lines);
    const first = rows[place]! * stride + firstStep;
    let [sum, count] = [0, 0];
    for (let step = 0; step < steps; step++) {
      const value = cells[first + step]!;
      if (value !== value) {
        lineLost[line] = columnLost[columnOf[step]!] = 1;
        continue;
      }
      sum += value;
      count++;
      sums[step]! += value;
      counts[step]!++;
      const bin = line * columns + columnOf[step]!;
      if (!(worst[bin]! === worst[bin]!) || worse(lowIsBad, value, worst[bin]!)) worst[bin] = value;
    }
    if (count > 0 && (Number.isNaN(lineMeans[line]!) || worse(lowIsBad, sum / count, lineMeans[line]!)))
      lineMeans[line] = sum / count;
  }
  const columnMeans = new Float64Array(columns).fill(NaN);
  for (let step = 0; step < steps; step++) {
    const [column, mean] = [columnOf[step]!, sums[step]! / counts[step]!];
    if (counts[step]! > 0 && (Number.isNaN(columnMeans[column]!) || worse(lowIsBad, mean, columnMeans[column]!)))
      columnMeans[column] = mean;
  }
  const shades = Uint8Array.from(worst, (value) => (Number.isNaN(value) ? 0 : shade(value)));
  return { columns, lines, shades, lineLost, columnLost, lineMeans, columnMeans };
}

/** Places among the shown ranks and steps. */
export type HeatCell = { place: number; step: number };

/** The worst cell that a cell of the picture stands for; if all are lost, the first. */
export function worstIn(input: HeatInput, { columns, lines }: HeatPlace, line: number, column: number): HeatCell {
  const { cells, stride, rows, first, steps, lowIsBad } = input;
  let found = { place: firstOf(line, rows.length, lines), step: firstOf(column, steps, columns) };
  let value = NaN;
  for (let place = found.place; place < rows.length && binOf(place, rows.length, lines) === line; place++)
    for (let step = firstOf(column, steps, columns); step < steps && binOf(step, steps, columns) === column; step++) {
      const own = cells[rows[place]! * stride + first + step]!;
      if (Number.isNaN(own) || !(Number.isNaN(value) || worse(lowIsBad, own, value))) continue;
      [found, value] = [{ place, step }, own];
    }
  return found;
}

/** Where a rank and a step are drawn. */
export function lineOf(place: number, rows: number, { lines }: HeatPlace): number {
  return binOf(place, rows, lines);
}

export function columnAt(step: number, steps: number, { columns }: HeatPlace): number {
  return binOf(step, steps, columns);
}

/** Lengths of bars next to the picture, 0 to 1: from the best mean (or 0, for amounts) to the worst, which is
    `material` at least. */
export function barsOf(means: Float64Array, lowIsBad: boolean, material: number): Float64Array {
  const known = means.filter((mean) => !Number.isNaN(mean));
  if (known.length === 0) return new Float64Array(means.length);
  const least = known.reduce((a, b) => Math.min(a, b));
  const most = known.reduce((a, b) => Math.max(a, b));
  const [from, to] = lowIsBad ? [most, least] : [0, Math.max(most, material)];
  return means.map((mean) => (Number.isNaN(mean) || from === to ? 0 : Math.max(0, (mean - from) / (to - from))));
}
