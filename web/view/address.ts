// The address follows the state, so that copying it copies the view; opening such an address restores it.

import { linkOf, readLink, type Link } from "../model/permalink.ts";
import type { Viewer } from "../model/viewer.ts";

const SETTLED = 250; // ms without a change before the address changes; browsers limit how often it may

export function followAddress(viewer: Viewer, fragment: string): void {
  apply(viewer, readLink(fragment));
  let timer = 0;
  let written = "";
  viewer.subscribe(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      written = `#${linkOf(viewer.state)}`;
      try {
        history.replaceState(null, "", written);
      } catch {
        // An address that cannot be changed is no reason to stop.
      }
    }, SETTLED) as unknown as number;
  });
  addEventListener("hashchange", () => {
    if (location.hash !== written) apply(viewer, readLink(location.hash));
  });
}

function apply(viewer: Viewer, link: Link): void {
  const { selection, collapsed, hidden, ...rest } = link;
  viewer.set({
    ...rest,
    ...(collapsed ? { collapsed: new Set(collapsed) } : {}),
    ...(hidden ? { hidden: new Set(hidden) } : {}),
  });
  if (selection) void viewer.select(selection.table, selection.row, false);
}
