// The keys that work on every page.

import type { Viewer } from "../../model/page/viewer.ts";

export const GLOBAL_KEYS = [
  { keys: "?", what: "Show all keys" },
  { keys: "Ctrl+K", what: "Go to a page, track, kernel or table (also ⌘+K)" },
  { keys: "/", what: "Search events, or filter the rows of the table" },
  { keys: "Alt+← / Alt+→", what: "Back / forward through the steps (the browser's keys)" },
  { keys: "Esc", what: "Close the dialog" },
] as const;

export type DialogName = "keys" | "palette";

/** Binds them until the returned function is called. The timeline has its own search key. */
export function bindGlobalKeys(viewer: Viewer, open: (dialog: DialogName) => void): () => void {
  const press = (event: KeyboardEvent) => {
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") open("palette");
    else if (isCommand || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]") !== null)
      return;
    else if (event.key === "?") open("keys");
    else if (event.key === "/" && viewer.state.page !== "timeline") focusSearch(viewer);
    else return;
    event.preventDefault();
  };
  addEventListener("keydown", press);
  return () => removeEventListener("keydown", press);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches("input, textarea, select");

/** The field of the page if it has one, otherwise the search of the timeline. */
function focusSearch(viewer: Viewer): void {
  const field = () => document.querySelector<HTMLInputElement>("main input[type=search]");
  if (field() !== null) return field()!.select();
  viewer.openPage("timeline");
  requestAnimationFrame(() => field()?.select());
}
