// The column of track names next to the canvas. Each track has buttons to fold, pin, hide and move it; a name can also
// be dragged among its siblings. By keyboard the buttons of all tracks are one stop, with arrows between them.

import { useLayoutEffect, useRef } from "preact/hooks";
import { visible } from "../../layout/short_name.ts";
import { moved, type Placement, type PlacedTrack } from "../../layout/tracks.ts";
import type { State } from "../../model/page/state.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { moveInToolbars, oneTabStop } from "../parts/toolbar.ts";
import { useViewerState } from "../parts/use_state.ts";
import { px } from "../parts/use_width.ts";

const toggled = (set: ReadonlySet<number>, id: number): Set<number> => {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
};

export function TrackNames({ viewer, placed }: { viewer: Viewer; placed: Placement }) {
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => oneTabStop(list.current!));
  const move = (event: KeyboardEvent) => moveInToolbars(list.current!, event);
  const stop = (event: FocusEvent) => oneTabStop(list.current!, event.target);
  return (
    <ul class="names" ref={list} style={{ height: px(placed.height) }} onKeyDown={move} onFocusIn={stop}>
      {placed.tracks.map((track) => (
        <TrackName key={track.track.id} viewer={viewer} placed={track} all={placed.tracks} />
      ))}
    </ul>
  );
}

function TrackName({ viewer, placed, all }: { viewer: Viewer; placed: PlacedTrack; all: PlacedTrack[] }) {
  const { track, foldable, folded, pinned } = placed;
  const grabbed = useRef<number | null>(null);
  const isChosen = useViewerState(viewer, (state) => state.timeline.track?.id === track.id);
  const { recording, state: { timeline } } = viewer;
  const set = (change: Partial<State["timeline"]>) => viewer.set({ timeline: change });
  const fold = () => set({ collapsed: toggled(timeline.collapsed, track.id) });
  const others = timeline.pinned.filter((id) => id !== track.id);
  const pin = () => set({ pinned: pinned ? others : [...timeline.pinned, track.id] });
  const hide = () => set({ hidden: toggled(timeline.hidden, track.id), pinned: others });
  const shift = (by: number) => {
    const order = moved({ ...recording, tracks: recording.manifest.tracks }, viewer.state.timeline, track.id, by);
    if (order) set({ order });
  };
  const drop = (event: PointerEvent) => {
    const from = grabbed.current;
    grabbed.current = null;
    if (from === null || Math.abs(event.clientY - from) < 8) return;
    const siblings = all.filter((other) => other.track.parent === track.parent);
    const target = placed.top + event.clientY - from;
    const at = siblings.filter((other) => other !== placed && other.top + other.height / 2 < target).length;
    shift(at - siblings.indexOf(placed));
  };
  const style = { top: px(placed.top), height: px(placed.height), paddingLeft: px(6 + 10 * placed.depth) };
  const foldText = `${folded ? "Unfold" : "Fold"} ${track.name}`;
  const [pinText, pinTitle] = [`Pin ${track.name} to the top`, pinned ? "Unpin" : "Pin to the top"];
  return (
    <li class={`name ${placed.kind} ${track.kind}${isChosen ? " chosen" : ""}`} style={style}>
      <div class="toolbar" role="toolbar" aria-label={track.name}>
        {foldable ? (
          <button class="icon" aria-expanded={!folded} aria-label={foldText} onClick={fold}>
            {folded ? "▸" : "▾"}
          </button>
        ) : (
          <span class="icon" />
        )}
        <span
          class="text"
          title={`${track.name}\nDrag to reorder.`}
          onPointerDown={(event) => {
            grabbed.current = event.clientY;
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerUp={drop}
        >
          {visible(track.name)}
        </span>
        <span class="actions">
          <button class="icon" aria-label={`Move ${track.name} up`} title="Move up" onClick={() => shift(-1)}>↑</button>
          <button class="icon" aria-label={`Move ${track.name} down`} title="Move down" onClick={() => shift(1)}>
            ↓
          </button>
          <button class="icon" aria-pressed={pinned} aria-label={pinText} title={pinTitle} onClick={pin}>
            {pinned ? "◆" : "◇"}
          </button>
          <button class="icon" aria-label={`Hide ${track.name}`} title="Hide" onClick={hide}>×</button>
        </span>
      </div>
    </li>
  );
}
