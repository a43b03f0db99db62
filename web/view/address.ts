// The address follows the state, so that copying it copies the view; opening such an address restores it.

import { linkOf, readLink, type Link } from "../model/permalink.ts";
import type { Desk } from "../model/desk.ts";

const SETTLED = 250; // ms without a change before the address changes; browsers limit how often it may

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
        // An address that cannot be changed is no reason to stop.
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
