// Keeps what the page shows in its address and in the browser's history: a copied address, a reload, Back and Forward
// restore it. Entries also hold how far the parts of the page were scrolled.

import { History } from "../../model/page/history.ts";
import { readLink } from "../../model/page/permalink.ts";
import { restore } from "../../model/page/restore.ts";
import type { Workspace } from "../../model/page/workspace.ts";
import { placesOf, restoreScroll, scrollPlaces } from "./scroll_places.ts";

const ACTIONS = ["pointerdown", "click", "change", "keydown"] as const;
const SCROLLED = 250; // ms without scrolling before the entry is updated

export function syncAddress(workspace: Workspace): void {
  const pages = new History({ push, replace }, () => workspace.snapshot, location.hash.slice(1));
  let timer = 0;
  let stopScrolling = () => {};
  const enter = (link: string) => {
    clearTimeout(timer);
    pages.enter(link);
    restore(workspace, readLink(link));
    stopScrolling();
    stopScrolling = restoreScroll(placesOf(history.state));
  };
  workspace.subscribe(() => pages.follow());
  enter(location.hash.slice(1));
  const act = (event: Event) => void (event instanceof KeyboardEvent && event.repeat ? undefined : pages.act());
  for (const type of ACTIONS) addEventListener(type, act, { capture: true });
  const scrolled = () => {
    clearTimeout(timer);
    timer = setTimeout(keepPlaces, SCROLLED) as unknown as number;
  };
  addEventListener("scroll", scrolled, { capture: true, passive: true });
  addEventListener("hashchange", ({ newURL }) => {
    const link = new URL(newURL).hash.slice(1); // that of `location` may have been replaced since
    if (own.delete(link)) return;
    if (pages.isOther(link)) enter(link);
  });
}

// Some browsers refuse to change the history of a local file, or to change it often; the address can still be set.

/** In full: in the frame of a notebook, whose own address is about:srcdoc, `#link` alone would be one of the notebook's
    server. */
const addressOf = (link: string): string => `${location.href.split("#")[0]}#${link}`;

const own = new Set<string>(); // addresses that were set here and whose event is still to come

function setAddress(link: string, how: "assign" | "replace"): void {
  if (location.hash.slice(1) === link) return;
  own.add(link);
  location[how](addressOf(link));
}

function push(link: string): void {
  keepPlaces(); // of the entry that is left; its page is still drawn
  try {
    history.pushState(null, "", addressOf(link));
  } catch {
    setAddress(link, "assign");
  }
}

function replace(link: string): void {
  try {
    history.replaceState({ scroll: scrollPlaces() }, "", addressOf(link));
  } catch {
    setAddress(link, "replace");
  }
}

function keepPlaces(): void {
  try {
    history.replaceState({ scroll: scrollPlaces() }, "");
  } catch {
    // Entries then start at the top.
  }
}
