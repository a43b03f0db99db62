// Which rows of a long list are visible, and where. Browsers limit the height of an element (17 million pixels in
// Firefox), so beyond MAX_HEIGHT the scroll bar covers the rows at less than a row's height each; on the screen rows
// keep their height.

export const ROW = 24; // css pixels
const MAX_HEIGHT = 8_000_000;
const OVERSCAN = 10; // extra rows above and below the visible ones

export interface RowWindow {
  height: number; // of the whole list, as the scroll bar sees it
  first: number; // row
  last: number; // row after the last
  offset: number; // of the first row from the top of the list
}

/** Pixels of the scroll bar per pixel of rows. */
const compression = (rows: number, room: number): number => {
  const whole = rows * ROW;
  return whole <= MAX_HEIGHT ? 1 : (MAX_HEIGHT - room) / (whole - room);
};

/** `top`: how far the list is scrolled; `room`: the height that shows rows. */
export function rowWindow(rows: number, top: number, room: number): RowWindow {
  const start = top / compression(rows, room); // pixels of rows above
  const first = Math.max(0, Math.min(rows, Math.floor(start / ROW) - OVERSCAN));
  const last = Math.min(rows, Math.ceil((start + room) / ROW) + OVERSCAN);
  return { height: Math.min(rows * ROW, MAX_HEIGHT), first, last, offset: top + first * ROW - start };
}

/** How far to scroll so that a row is visible; `top` if it is. */
export function scrollTo(row: number, rows: number, top: number, room: number): number {
  const by = compression(rows, room);
  const start = top / by;
  if (row * ROW < start) return row * ROW * by;
  return (row + 1) * ROW > start + room ? ((row + 1) * ROW - room) * by : top;
}
