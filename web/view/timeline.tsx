// The timeline page: search, track names, the canvas, and a panel with what is selected and measured. The canvas is a
// Stage (stage.ts), fed by pointer and keys; components here follow the viewer's state.

import { useEffect, useRef, useState } from "preact/hooks";
import { HEAD } from "../layout/scene.ts";
import type { Placement } from "../layout/tracks.ts";
import type { Details } from "../model/details.ts";
import type { Viewer } from "../model/viewer.ts";
import { DetailsPanel } from "./details_panel.tsx";
import { followKeys, KEYS } from "./keys.ts";
import { Legend, MeasurePanel } from "./measure_panel.tsx";
import { followPointer } from "./pointer.ts";
import { SearchBox, type SearchHandle } from "./search_box.tsx";
import { Stage } from "./stage.ts";
import { pointedAt, Tooltip, type Pointed } from "./tooltip.tsx";
import { TrackNames } from "./track_names.tsx";
import { useViewer } from "./use_state.ts";

const PAPER = 680; // css pixels across a sheet, without its margins

const NOWHERE: Placement = { tracks: [], height: 0 };

export function Timeline({ viewer }: { viewer: Viewer }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const stage = useRef<Stage | null>(null);
  const search = useRef<SearchHandle | null>(null);
  const [placed, setPlaced] = useState({ pinned: NOWHERE, rest: NOWHERE, pinnedHeight: 0 });
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const selection = useViewer(viewer, (state) => state.selection);

  useEffect(() => {
    const mine = new Stage(canvas.current!, scroller.current!, viewer);
    stage.current = mine;
    mine.onPlaced = setPlaced;
    const release = [
      keepSizeInPrint(frame.current!),
      followPointer(mine),
      followKeys(mine, {
        focusSearch: () => search.current?.focus(),
        step: (by) => search.current?.step(by),
        clear: () => {
          search.current?.clear();
          viewer.set({ selection: null, range: null });
        },
      }),
    ];
    return () => {
      for (const each of release) each();
      mine.close();
    };
  }, [viewer]);

  useEffect(() => {
    if (selection !== null && selection.lane !== null) stage.current?.reveal(selection.lane);
  }, [selection]);

  const showLinks = (details: Details | null) => {
    if (stage.current === null) return;
    stage.current.links = linksOf(viewer, details);
    stage.current.invalidate();
  };
  const point = (event: PointerEvent) => {
    const quiet = event.buttons !== 0 || event.pointerType === "touch" || stage.current === null;
    setPointed(quiet ? null : pointedAt(stage.current!, viewer.recording.strings, event.offsetX, event.offsetY));
  };
  return (
    <>
      <div class="tools">
        <SearchBox viewer={viewer} handle={search} />
        <Hidden viewer={viewer} />
      </div>
      <div class="stage" ref={frame}>
        <Filter viewer={viewer} height={HEAD} />
        <div class="pinned" style={{ top: `${HEAD}px`, height: `${placed.pinnedHeight}px` }}>
          <TrackNames viewer={viewer} placed={placed.pinned} />
        </div>
        <div class="scroller" ref={scroller} style={{ top: `${HEAD + placed.pinnedHeight}px` }}>
          <TrackNames viewer={viewer} placed={placed.rest} />
        </div>
        <div class="lanes" onPointerMove={point} onPointerLeave={() => setPointed(null)}>
          <canvas ref={canvas} tabIndex={0} role="application" aria-roledescription="timeline" aria-label="Timeline. W and S zoom, A and D move, arrows go from event to event; what is selected is told beside." />
          <Tooltip pointed={pointed} width={stage.current?.width ?? 1} />
        </div>
      </div>
      <aside class="panel" aria-label="Details">
        <div role="status" class="spoken">
          {selection ? `${selection.table} ${selection.name}` : ""}
        </div>
        <MeasurePanel viewer={viewer} />
        <DetailsPanel viewer={viewer} onDetails={showLinks} />
        <Legend viewer={viewer} />
        <Help />
      </aside>
    </>
  );
}

/** On paper the canvas keeps the size it has on screen, and is scaled with the names beside it. */
function keepSizeInPrint(frame: HTMLElement): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  addEventListener("beforeprint", () => {
    const { width, height } = frame.getBoundingClientRect();
    Object.assign(frame.style, { width: `${width}px`, height: `${height}px`, zoom: String(Math.min(1, PAPER / width)) });
  }, { signal });
  addEventListener("afterprint", () => Object.assign(frame.style, { width: "", height: "", zoom: "" }), { signal });
  return () => abort.abort();
}

/** Arrows of the selection: from the launch to it, from it to the work it submitted. */
function linksOf(viewer: Viewer, details: Details | null): { lane: number; time: number }[][] {
  const { selection } = viewer.state;
  if (details === null || selection === null || selection.lane === null) return [];
  const links: { lane: number; time: number }[][] = [];
  if (details.launch && details.launch.lane !== null)
    links.push([{ lane: details.launch.lane, time: details.launch.to }, { lane: selection.lane, time: selection.from }]);
  if (details.work && details.work.lane !== null)
    links.push([{ lane: selection.lane, time: selection.to }, { lane: details.work.lane, time: details.work.from }]);
  return links;
}

function Filter({ viewer, height }: { viewer: Viewer; height: number }) {
  const filter = useViewer(viewer, (state) => state.filter);
  return (
    <div class="corner" style={{ height: `${height}px` }}>
      <input type="search" value={filter} placeholder="Filter tracks" aria-label="Filter tracks by name" onInput={(event) => viewer.set({ filter: event.currentTarget.value })} />
    </div>
  );
}

/** Says that tracks are hidden, and brings them back. */
function Hidden({ viewer }: { viewer: Viewer }) {
  const hidden = useViewer(viewer, (state) => state.hidden);
  if (hidden.size === 0) return null;
  return <button onClick={() => viewer.set({ hidden: new Set() })}>Show {hidden.size} hidden</button>;
}

function Help() {
  return (
    <details class="help">
      <summary>Keys</summary>
      <table>
        <tbody>
          {KEYS.map(([keys, what]) => (
            <tr key={keys}>
              <th scope="row">{keys}</th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
