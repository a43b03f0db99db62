// Keeps what the page shows in its address and in the browser's history: a copied address, a reload, Back and Forward
// restore it.

import { History } from "../model/history.ts";
import { readLink } from "../model/permalink.ts";
import { restore } from "../model/restore.ts";
import type { Workspace } from "../model/workspace.ts";

const ACTIONS = ["pointerdown", "click", "change", "keydown"] as const;

export function syncAddress(workspace: Workspace): void {
  const entries = { push: (link: string) => write("push", link), replace: (link: string) => write("replace", link) };
  const pages = new History(entries, () => workspace.snapshot, location.hash.slice(1));
  const enter = (link: string) => {
    pages.enter(link);
    restore(workspace, readLink(link));
  };
  enter(location.hash.slice(1));
  workspace.subscribe(() => pages.follow());
  const act = (event: Event) => void (event instanceof KeyboardEvent && event.repeat ? undefined : pages.act());
  for (const type of ACTIONS) addEventListener(type, act, { capture: true });
  addEventListener("hashchange", ({ newURL }) => {
    const link = new URL(newURL).hash.slice(1); // that of `location` may have been replaced since
    if (pages.isOther(link)) enter(link);
  });
}

/** Some browsers refuse to change the history of a local file, or to change it often; the address can still be set. */
function write(how: "push" | "replace", link: string): void {
  try {
    how === "push" ? history.pushState(null, "", `#${link}`) : history.replaceState(null, "", `#${link}`);
  } catch {
    how === "push" ? location.assign(`#${link}`) : location.replace(`#${link}`);
  }
}
