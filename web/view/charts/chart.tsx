// A responsive chart: the plot between two labelled axes with units. Positions are css pixels inside the plot; the
// caller draws its content.

import type { ComponentChildren } from "preact";
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
                <text x={-6} y={place} dy="0.32em" text-anchor="end">
                  {text}
                </text>
              </g>
            ))}
            {withoutOverlaps(x.ticks).map(({ place, text }) => (
              <g key={text} class="tick">
                <line x1={place} x2={place} y1={height} y2={height + 4} />
                <text x={place} y={height + 16} text-anchor={place > width - 24 ? "end" : "middle"}>
                  {text}
                </text>
              </g>
            ))}
            <text class="axis-label" x={width} y={height + 34} text-anchor="end">
              {x.label}
            </text>
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
