// A responsive chart: the plot between two labelled axes with units. Positions are css pixels inside the plot; the
// caller draws its content.

import type { ComponentChildren } from "preact";
import { ticksOf } from "../../layout/ticks.ts";
import type { Range } from "../../model/recording/range.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { reportedPart } from "../../model/table/row_navigation.ts";
import { useWidth } from "../parts/use_width.ts";

const RIGHT = 14;
const TOP = 10;
const BOTTOM = 40;

export interface AxisTick {
  place: number; // css pixels along the axis
  text: string;
}

export interface Axis {
  label: string;
  ticks: AxisTick[];
}

type Tick = { at: number; text: string };

/** An axis of values with their texts, at the places that a scale gives them. */
export function axisOf(label: string, ticks: readonly Tick[], scale: (at: number) => number): Axis {
  return { label, ticks: ticks.map(({ at, text }) => ({ place: scale(at), text })) };
}

export function timeAxis(view: Range, width: number): Axis {
  const ticks = ticksOf(view, width, 80).ticks.map(({ at, label }) => ({ at, text: label }));
  const scale = (at: number) => ((at - view.from) / (view.to - view.from)) * width;
  return axisOf("time since the start of the recording", ticks, scale);
}

/** What a chart over the reported part does: it says which time is pointed at, and a click shows it on the timeline. */
export function timeHandlers(viewer: Viewer, onPoint: (time: number | null) => void) {
  const { from, to } = reportedPart(viewer.recording);
  const span = to - from;
  return (width: number) => {
    const timeAt = (event: MouseEvent) => {
      const box = (event.currentTarget as Element).getBoundingClientRect();
      return from + ((event.clientX - box.left) / width) * span;
    };
    const show = (time: number) => viewer.goTo({ from: time - span / 40, to: time + span / 40 });
    return {
      onClick: (event: MouseEvent) => show(timeAt(event)),
      onPointerMove: (event: MouseEvent) => onPoint(timeAt(event)),
      onPointerLeave: () => onPoint(null),
    };
  };
}

interface Props {
  label: string; // for screen readers
  height: number; // of the plot
  left?: number; // css pixels reserved for the labels of the vertical axis
  axes: (width: number) => { x: Axis; y: Axis };
  children: (width: number) => ComponentChildren;
}

export function Chart({ label, height, left = 72, axes, children }: Props) {
  const [element, full] = useWidth<HTMLDivElement>();
  const width = Math.max(0, full - left - RIGHT);
  const { x, y } = axes(width);
  return (
    <div class="chart" ref={element}>
      {width > 0 && (
        <svg width={full} height={height + TOP + BOTTOM} role="group" aria-label={label}>
          <g transform={`translate(${left} ${TOP})`}>
            {y.ticks.map(({ place, text }) => (
              <g key={text} class="tick">
                <line x1={0} x2={width} y1={place} y2={place} />
                <text x={-6} y={place} dy="0.32em" text-anchor="end">{text}</text>
              </g>
            ))}
            {withoutOverlaps(x.ticks).map(({ place, text }) => (
              <g key={text} class="tick">
                <line x1={place} x2={place} y1={height} y2={height + 4} />
                <text x={place} y={height + 16} text-anchor={place > width - 24 ? "end" : "middle"}>{text}</text>
              </g>
            ))}
            <text class="axis-label" x={width} y={height + 34} text-anchor="end">{x.label}</text>
            <text class="axis-label" transform={`translate(${-left + 11} ${0}) rotate(-90)`} text-anchor="end">
              {y.label}
            </text>
            {children(width)}
            <line class="base" x1={0} x2={width} y1={height} y2={height} />
          </g>
        </svg>
      )}
    </div>
  );
}

const CHAR_WIDTH = 6.5; // approximate width, css pixels

/** The ticks whose labels do not touch the previous label. */
function withoutOverlaps(ticks: AxisTick[]): AxisTick[] {
  let last = -Infinity;
  return ticks.filter(({ place, text }) => {
    const half = (text.length * CHAR_WIDTH) / 2;
    if (place - half < last + 6) return false;
    last = place + half;
    return true;
  });
}
