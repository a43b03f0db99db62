// The border between the timeline and its panel: drag it, or move it with the arrow keys. The width is kept for the
// next visit, where the browser allows that.

import { useEffect, useRef, useState } from "preact/hooks";

const KEY = "gpu-profile panel width";
const USUAL = 320; // css pixels
const LEAST = 220;
const STEP = 24;

const most = (): number => Math.max(LEAST, Math.round(innerWidth * 0.6));
const within = (width: number): number => Math.min(Math.max(Math.round(width), LEAST), most());

function kept(): number {
  try {
    return within(Number(localStorage.getItem(KEY)) || USUAL);
  } catch {
    return USUAL;
  }
}

function keep(width: number): void {
  try {
    localStorage.setItem(KEY, String(width));
  } catch {
    // Some browsers keep nothing for local files.
  }
}

export function PanelWidth() {
  const [width, setWidth] = useState(kept);
  const border = useRef<HTMLDivElement>(null);
  useEffect(() => border.current?.parentElement?.style.setProperty("--panel", `${width}px`), [width]);
  const resize = (to: number) => {
    const next = within(to);
    setWidth(next);
    keep(next);
  };
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
    const to = { Home: most(), End: LEAST }[event.key];
    if (by === undefined && to === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // arrows also move along the timeline
    resize(to ?? width + by!);
  };
  return (
    <div
      ref={border}
      class="panel-border"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the panel"
      aria-valuemin={LEAST}
      aria-valuemax={most()}
      aria-valuenow={width}
      tabIndex={0}
      onKeyDown={onKey}
      onDblClick={() => resize(USUAL)}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) =>
        event.currentTarget.hasPointerCapture(event.pointerId) && resize(innerWidth - event.clientX)
      }
    />
  );
}
