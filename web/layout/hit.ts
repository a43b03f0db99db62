// Finds what is under a point of the canvas: the track, the row and its lanes, or one of the strips at the top.

import type { Lane } from "../model/recording/manifest.ts";
import { HEAD, MINIMAP } from "./scene.ts";
import type { Placement, PlacedTrack } from "./tracks.ts";

export type Hit =
  | { zone: "minimap" | "ruler" | "nothing" }
  | { zone: "track"; track: PlacedTrack; row: number; lanes: Lane[] };

export function hit(y: number, pinned: Placement, pinnedHeight: number, rest: Placement, scroll: number): Hit {
  if (y < MINIMAP) return { zone: "minimap" };
  if (y < HEAD) return { zone: "ruler" };
  const inPinned = y < HEAD + pinnedHeight;
  const at = inPinned ? y - HEAD : y - HEAD - pinnedHeight + scroll;
  const track = (inPinned ? pinned : rest).tracks.find((t) => at >= t.top && at < t.top + t.height);
  if (!track) return { zone: "nothing" };
  const row = track.rowHeight === 0 ? 0 : Math.min(track.rows - 1, Math.floor((at - track.top) / track.rowHeight));
  const lanes = track.kind === "counter" ? track.lanes : track.lanes.filter((lane) => lane.y === row);
  return { zone: "track", track, row, lanes };
}
