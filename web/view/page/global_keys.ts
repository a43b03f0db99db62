// The keys that work on every page, except where something is typed.

import type { PageName } from "../../model/page/state.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { showNextGap } from "../../model/table/row_navigation.ts";
import { focusPage } from "./dialog.tsx";

export const GLOBAL_KEYS = [
  { keys: "?", what: "Show all keys" },
  { keys: "1 … 9", what: "Open the first page, the second, …" },
  { keys: "G / Shift+G", what: "Show the longest idle time, then the next longest / the one before" },
  { keys: "Ctrl+K", what: "Go to a page, track, kernel or table (also ⌘+K)" },
  { keys: "/", what: "Search events, or filter the rows of the table" },
  { keys: "Alt+← / Alt+→", what: "Back / forward through the steps (the browser's keys)" },
  { keys: "Esc", what: "Close the dialog" },
] as const;

export type DialogName = "keys" | "palette";

/** Binds them until the returned function is called. The timeline has its own search key. */
export function bindGlobalKeys(
  viewer: Viewer, pages: readonly PageName[], open: (dialog: DialogName) => void,
): () => void {
  const press = (event: KeyboardEvent) => {
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") open("palette");
    else if (isCommand || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]") !== null)
      return;
    else if (event.key === "?") open("keys");
    else if (/^[1-9]$/.test(event.key)) openPage(viewer, pages[Number(event.key) - 1]);
    else if (event.key.toLowerCase() === "g") void showNextGap(viewer, event.shiftKey ? -1 : 1);
    else if (event.key === "/" && viewer.state.page !== "timeline") focusSearch(viewer);
    else return;
    event.preventDefault();
  };
  addEventListener("keydown", press);
  return () => removeEventListener("keydown", press);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches("input, textarea, select");

function openPage(viewer: Viewer, page: PageName | undefined): void {
  if (page === undefined) return;
  viewer.openPage(page);
  requestAnimationFrame(() => requestAnimationFrame(focusPage));
}

/** The field of the page if it has one, otherwise the search of the timeline. That page is drawn in a microtask, so the
    field has the focus before the next key arrives. */
function focusSearch(viewer: Viewer): void {
  const field = () => document.querySelector<HTMLInputElement>("main input[type=search]");
  if (field() === null) viewer.openPage("timeline");
  queueMicrotask(() => field()?.select());
}
