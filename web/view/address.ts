// Keeps the state of the view in the page's address: a copied address restores the same view.

import { linkOf, readLink, type Link } from "../model/permalink.ts";
import type { Desk } from "../model/desk.ts";

const SETTLED = 250; // ms without a change before the address is updated; browsers limit how often it may change

export function followAddress(desk: Desk, fragment: string): void {
  apply(desk, readLink(fragment));
  let timer = 0;
  let written = "";
  desk.subscribe(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      written = `#${linkOf(desk.viewer.state, desk.side)}`;
      try {
        history.replaceState(null, "", written);
      } catch {
        // Some browsers refuse to change the address of a local file; the view works without it.
      }
    }, SETTLED) as unknown as number;
  });
  addEventListener("hashchange", () => {
    if (location.hash !== written) apply(desk, readLink(location.hash));
  });
}

function apply(desk: Desk, link: Link): void {
  const { selection, collapsed, hidden, side, view, ...rest } = link;
  if (side !== undefined) desk.show(side);
  const { viewer, comparison } = desk;
  viewer.set({
    ...rest,
    ...(collapsed ? { collapsed: new Set(collapsed) } : {}),
    ...(hidden ? { hidden: new Set(hidden) } : {}),
  });
  if (viewer.state.page === "comparison") comparison?.align(viewer.state.aligned);
  if (view) viewer.set({ view });
  if (selection) void viewer.select(selection.table, selection.row, false);
}
