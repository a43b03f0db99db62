// A timeline with the elements around its canvas: track names, their filter, the tooltip.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { HEAD } from "../../layout/scene.ts";
import type { Placement } from "../../layout/tracks.ts";
import type { Selection } from "../../model/recording/range.ts";
import type { TrackChoice } from "../../model/page/state.ts";
import type { RowPlace, Viewer } from "../../model/page/viewer.ts";
import { bindPointer } from "./pointer.ts";
import { PRINT_WIDTH } from "../page/printing.ts";
import { bindTouch } from "./touch.ts";
import { TimelineCanvas } from "./timeline_canvas.ts";
import { pointedAt, Tooltip, type Pointed } from "./tooltip.tsx";
import { TrackNames } from "./track_names.tsx";
import { useViewerState } from "../parts/use_state.ts";
import { px } from "../parts/use_width.ts";

const EMPTY: Placement = { tracks: [], height: 0 };

interface Props {
  viewer: Viewer;
  label: string;
  /** Called once with the timeline; returns the cleanup function. */
  onCanvas: (timeline: TimelineCanvas) => () => void;
}

export function TimelineView({ viewer, label, onCanvas }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const timeline = useRef<TimelineCanvas | null>(null);
  const [placed, setPlaced] = useState({ pinned: EMPTY, rest: EMPTY, pinnedHeight: 0 });
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const selection = useViewerState(viewer, (state) => state.selection);
  const track = useViewerState(viewer, (state) => state.timeline.track);

  // Before the first paint, so that no key or click on what is shown is lost.
  useLayoutEffect(() => {
    const mine = new TimelineCanvas(canvas.current!, scroller.current!, viewer);
    timeline.current = mine;
    mine.onPlaced = setPlaced;
    const release = [keepSizeInPrint(frame.current!), bindPointer(mine), bindTouch(mine), onCanvas(mine)];
    return () => {
      for (const each of release) each();
      mine.close();
    };
  }, [viewer]);

  useEffect(() => {
    const chosen = viewer.takeUnrevealed();
    const shown = chosen ?? placeOf(viewer, selection, track);
    if (shown !== null) timeline.current?.reveal(shown, chosen !== null);
  }, [selection, track]);

  const point = (event: PointerEvent) => {
    const quiet = event.buttons !== 0 || event.pointerType === "touch" || timeline.current === null;
    setPointed(quiet ? null : pointedAt(timeline.current!, viewer.recording.strings, event.offsetX, event.offsetY));
  };
  const isEmpty = placed.pinned.tracks.length + placed.rest.tracks.length === 0;
  return (
    <div class="timeline-view" ref={frame}>
      <Filter viewer={viewer} height={HEAD} />
      <div class="pinned" style={{ top: `${HEAD}px`, height: `${placed.pinnedHeight}px` }}>
        <TrackNames viewer={viewer} placed={placed.pinned} />
      </div>
      <div class="scroller" ref={scroller} style={{ top: `${HEAD + placed.pinnedHeight}px` }}>
        {isEmpty && <p class="quiet no-tracks">No tracks to show</p>}
        <TrackNames viewer={viewer} placed={placed.rest} />
      </div>
      <div class="lanes" onPointerMove={point} onPointerLeave={() => setPointed(null)}>
        <canvas ref={canvas} tabIndex={0} role="application" aria-roledescription="timeline" aria-label={label} />
        <Tooltip pointed={pointed} width={timeline.current?.width ?? 1} />
      </div>
    </div>
  );
}

/** The row of the selection, or of the track that was gone to. */
function placeOf({ recording }: Viewer, selection: Selection | null, track: TrackChoice | null): RowPlace | null {
  if (selection !== null && selection.lane !== null) return recording.manifest.lanes[selection.lane] ?? null;
  return track && { track: track.id, y: 0 };
}

/** In print the canvas keeps its size on screen, and is scaled together with the track names. */
function keepSizeInPrint(frame: HTMLElement): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  const fit = () => {
    const { width, height } = frame.getBoundingClientRect();
    const zoom = String(Math.min(1, PRINT_WIDTH / width));
    Object.assign(frame.style, { width: px(width), height: px(height), zoom });
  };
  addEventListener("beforeprint", fit, { signal });
  addEventListener("afterprint", () => Object.assign(frame.style, { width: "", height: "", zoom: "" }), { signal });
  return () => abort.abort();
}

function Filter({ viewer, height }: { viewer: Viewer; height: number }) {
  const filter = useViewerState(viewer, (state) => state.timeline.filter);
  return (
    <div class="corner" style={{ height: `${height}px` }}>
      <input
        type="search" value={filter} placeholder="Filter tracks" aria-label="Filter tracks by name"
        onInput={(event) => viewer.set({ timeline: { filter: event.currentTarget.value } })}
      />
    </div>
  );
}
