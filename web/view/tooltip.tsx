// The tooltip at the pointer: name, length and start of a slice; for a merged slice, how many events it stands for and
// how much of its length they cover; for a counter, its value. Text only; the details panel has the rest.

import { amount, plural, duration, moment, percent } from "../layout/time_text.ts";
import { NO_NAME } from "../model/slices.ts";
import type { Strings } from "../model/strings.ts";
import type { TimelineCanvas } from "./timeline_canvas.ts";

export interface Pointed {
  x: number;
  y: number;
  name: string;
  lines: string[];
}

export function pointedAt(timeline: TimelineCanvas, strings: Strings, x: number, y: number): Pointed | null {
  const counter = timeline.valueAt(x, y);
  if (counter !== null) {
    const { lane, value, time } = counter;
    return { x, y, name: lane.label ?? lane.table, lines: [amount(value, lane.unit), `since ${moment(time, Math.max(1, timeline.nsPerPixel))}`] };
  }
  const found = timeline.drawnAt(x, y);
  if (found === null) return null;
  const { slices, index, lane } = found;
  const [start, end, count] = [slices.start[index]!, slices.end[index]!, slices.count[index]!];
  const id = slices.name[index]!;
  const length = duration(end - start);
  const merged = `${plural(count, "event")} covering ${percent(slices.busy[index]! / Math.max(1, end - start))} of ${length}; the name is that of the longest`;
  const lines = [count > 1 ? merged : `${lane.table === "gap" ? "idle" : lane.table}, ${length}`, `starts at ${moment(start, Math.max(1, (end - start) / 1000))}`];
  return { x, y, name: id === NO_NAME ? (lane.label ?? lane.table) : strings.textOf(id), lines };
}

export function Tooltip({ pointed, width }: { pointed: Pointed | null; width: number }) {
  if (pointed === null) return null;
  const top = `${pointed.y + 14}px`;
  const style = pointed.x > width / 2 ? { right: `${width - pointed.x + 12}px`, top } : { left: `${pointed.x + 12}px`, top };
  return (
    <div class="tooltip" style={style} role="presentation">
      <strong>{pointed.name}</strong>
      {pointed.lines.map((line) => (
        <span key={line}>{line}</span>
      ))}
    </div>
  );
}
