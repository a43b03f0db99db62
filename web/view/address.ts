// Keeps the state of the view in the page's address: a copied address restores the same view.

import { around } from "../model/state.ts";
import { linkOf, readLink, type Link } from "../model/permalink.ts";
import type { Workspace } from "../model/workspace.ts";

const SETTLED = 250; // ms without a change before the address is updated; browsers limit how often it may change

export function syncAddress(workspace: Workspace, fragment: string): void {
  apply(workspace, readLink(fragment));
  let timer = 0;
  let written = "";
  workspace.subscribe(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      written = `#${linkOf(workspace.viewer.state, workspace.side)}`;
      try {
        history.replaceState(null, "", written);
      } catch {
        // Some browsers refuse to change the address of a local file; the view works without it.
      }
    }, SETTLED) as unknown as number;
  });
  addEventListener("hashchange", ({ newURL }) => {
    const { hash } = new URL(newURL); // the timer above may have replaced that of `location` since
    if (hash !== written) apply(workspace, readLink(hash));
  });
}

function apply(workspace: Workspace, link: Link): void {
  const { selection, collapsed, hidden, side, view, absolute, ...rest } = link;
  if (side !== undefined) workspace.show(side);
  const { viewer, comparison } = workspace;
  viewer.set({
    ...rest,
    ...(collapsed ? { collapsed: new Set(collapsed) } : {}),
    ...(hidden ? { hidden: new Set(hidden) } : {}),
  });
  if (viewer.state.page === "comparison") comparison?.align(viewer.state.aligned);
  if (view) viewer.set({ view });
  if (absolute) {
    const [from, to] = absolute.map((time) => Number(time - viewer.recording.manifest.time_origin_ns)) as [number, number];
    viewer.set({ view: around({ from, to }, 0.05), range: { from, to } });
  }
  if (selection) void viewer.select(selection.table, selection.row, false);
}
