// Rows of buttons that are one stop of the Tab key: arrows move left and right in a row, and up and down between rows.

/** Makes `wanted`, or else the button that is the stop already, the only one that Tab reaches. */
export function oneTabStop(rows: HTMLElement, wanted?: EventTarget | null): void {
  const buttons = [...rows.querySelectorAll("button")];
  const chosen =
    buttons.find((button) => button === wanted) ??
    buttons.find((button) => button === document.activeElement) ??
    buttons.find((button) => button.tabIndex === 0 && button.hasAttribute("tabindex")) ??
    buttons[0];
  for (const button of buttons) button.tabIndex = button === chosen ? 0 : -1;
}

export function moveInToolbars(rows: HTMLElement, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLButtonElement)) return;
  const to = next(rows, event.target, event.key);
  if (to === undefined) return;
  event.preventDefault();
  to?.focus();
}

/** The button that a key leads to; null: none in this direction; undefined: the key is not for toolbars. */
function next(rows: HTMLElement, from: HTMLButtonElement, key: string): HTMLButtonElement | null | undefined {
  const buttonsOf = (row: Element) => [...row.querySelectorAll("button")];
  const bars = [...rows.querySelectorAll("[role=toolbar]")].filter((row) => buttonsOf(row).length > 0);
  const bar = bars.findIndex((row) => row.contains(from));
  const mine = buttonsOf(bars[bar]!);
  const at = mine.indexOf(from);
  const inRow = (row: Element | undefined): HTMLButtonElement | null => {
    const others = row === undefined ? [] : buttonsOf(row);
    const fromEnd = mine.length - at; // rows end alike: only some begin with a button to fold
    return others[others.length - fromEnd] ?? others[0] ?? null;
  };
  const ways: Record<string, () => HTMLButtonElement | null> = {
    ArrowLeft: () => mine[at - 1] ?? null,
    ArrowRight: () => mine[at + 1] ?? null,
    Home: () => mine[0] ?? null,
    End: () => mine.at(-1) ?? null,
    ArrowUp: () => inRow(bars[bar - 1]),
    ArrowDown: () => inRow(bars[bar + 1]),
  };
  return ways[key]?.();
}
