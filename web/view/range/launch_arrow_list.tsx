// The switch for arrows from all calls of the measured range to the work that they submitted, and how many there are.

import { useEffect } from "preact/hooks";
import { grouped, plural } from "../../layout/time_text.ts";
import type { LaneArrow } from "../../model/recording/lane.ts";
import { launchArrows, MAX_ARROWS } from "../../model/range/launch_arrows.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { useAsync, useViewerState } from "../parts/use_state.ts";

function countText(launches: number): string {
  const all = plural(launches, "launch");
  return launches > MAX_ARROWS ? `the first ${grouped(MAX_ARROWS)} of ${all}` : all;
}

type LaunchArrowSwitchProps = { viewer: Viewer; onArrows: (arrows: readonly LaneArrow[]) => void };

export function LaunchArrowSwitch({ viewer, onArrows }: LaunchArrowSwitchProps) {
  const range = useViewerState(viewer, (state) => state.range);
  const shown = useViewerState(viewer, (state) => state.timeline.launchArrows);
  const toggle = () => viewer.set({ timeline: { launchArrows: !shown } });
  const wanted = shown ? range : null;
  const { value, error } = useAsync(async () => wanted && launchArrows(viewer.recording, wanted), wanted);
  useEffect(() => onArrows(value?.arrows ?? []), [value]);
  if (range === null) return null;
  return (
    <>
      <button aria-pressed={shown} onClick={toggle}>Launch arrows</button>
      <span class="quiet" role="status">{error ?? (value && countText(value.launches))}</span>
    </>
  );
}
