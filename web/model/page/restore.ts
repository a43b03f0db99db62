// Makes the page show what an address says. What the address does not hold is as it was at first, so that one address
// always shows the same, wherever it is opened from.

import { changeOf, FIELDS, valueAt, type Link } from "./address_fields.ts";
import type { LinkedSides } from "./permalink.ts";
import { around } from "../recording/range.ts";
import type { StateChange } from "./state.ts";
import type { Viewer } from "./viewer.ts";
import type { Workspace } from "./workspace.ts";

export function restore(workspace: Workspace, { side, shown, other }: LinkedSides): void {
  workspace.show(side);
  const { viewer, comparison } = workspace;
  const { view, absolute } = shown;
  const state = restored(viewer, shown);
  viewer.set(state);
  const isAligned = state.page === "comparison" && comparison !== null;
  if (isAligned) comparison.show(); // also sets the window, and where it can move
  if (!isAligned || view) viewer.set({ view: view ?? viewer.initial.view });
  if (absolute) {
    const { time_origin_ns } = viewer.recording.manifest;
    const [from, to] = [Number(absolute[0] - time_origin_ns), Number(absolute[1] - time_origin_ns)];
    viewer.set({ view: around({ from, to }, 0.05), range: { from, to } });
  }
  void viewer.restoreSelection(shown.selection);
  if (workspace.other !== null) restoreOther(workspace.other, other, isAligned);
}

/** The page is that of the side shown, and so is the window while both are aligned. */
function restoreOther(viewer: Viewer, link: Link, isAligned: boolean): void {
  const { page, ...state } = restored(viewer, link);
  viewer.set({ ...state, ...(isAligned ? {} : { view: link.view ?? viewer.initial.view }) });
  void viewer.restoreSelection(link.selection);
}

/** The fields of an address but the window and the selection. */
function restored({ initial }: Viewer, { selection, absolute, view, ...link }: Link): StateChange {
  const names = FIELDS.flatMap(({ of }) => (of === null || of === "selection" || of === "view" ? [] : [of]));
  return changeOf({ ...Object.fromEntries(names.map((name) => [name, valueAt(initial, name)])), ...link });
}
