// The places that the palette leads to: pages, tracks, kernels and tables of the recording that is shown.

import type { Report } from "../recording/report.ts";
import { showName } from "../table/row_navigation.ts";
import type { Name } from "../recording/names.ts";
import type { PageName } from "../page/state.ts";
import type { Viewer } from "../page/viewer.ts";

export interface Destination {
  kind: "page" | "track" | "kernel" | "table";
  name: string;
  go(): void;
}

export function pageDestinations(viewer: Viewer, pages: readonly { page: PageName; label: string }[]): Destination[] {
  return pages.map(({ page, label }) => ({ kind: "page", name: label, go: () => viewer.openPage(page) }));
}

export function trackDestinations(viewer: Viewer): Destination[] {
  const { manifest } = viewer.recording;
  return manifest.tracks.map((track) => {
    const parent = manifest.tracks[track.parent];
    const name = parent ? `${track.name} (${parent.name})` : track.name;
    return { kind: "track", name, go: () => viewer.showTrack(track.id) };
  });
}

/** Those with the most time first; a kernel leads to its longest launch. */
export function kernelDestinations(viewer: Viewer, names: readonly Name[]): Destination[] {
  const kernels = names.filter(({ table }) => table === "kernel").sort((a, b) => b.total - a.total);
  return kernels.map(({ name }) => ({ kind: "kernel", name, go: () => void showName(viewer, ["kernel"], name) }));
}

export const tableDestinations = (viewer: Viewer, report: Report): Destination[] =>
  report.tables.map(({ name }) => ({ kind: "table", name, go: () => viewer.openTable(name) }));
