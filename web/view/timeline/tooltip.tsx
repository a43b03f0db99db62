// The tooltip at the pointer: name, length and start of a slice; for a merged slice, how many events it stands for and
// how much of its length they cover; for a counter, its value. Text only; the details panel has the rest.

import { pct } from "../../layout/cell_text.ts";
import { kindOf } from "../../model/recording/event_kind.ts";
import { textOfIteration } from "../../layout/iteration_text.ts";
import { shortName } from "../../layout/short_name.ts";
import { amount, plural, duration, moment, percent } from "../../layout/time_text.ts";
import type { Lane } from "../../model/recording/manifest.ts";
import { NO_NAME } from "../../model/recording/slices.ts";
import type { Strings } from "../../model/recording/strings.ts";
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
    const { lane, value, low, high, time } = counter;
    const since = `since ${moment(time, Math.max(1, timeline.nsPerPixel))}`;
    return { x, y, name: lane.label ?? lane.table, lines: [valueText(lane, value, low, high), since] };
  }
  const found = timeline.drawnAt(x, y);
  const critical = criticalLine(timeline, x, y);
  if (found === null) return critical === null ? null : { x, y, name: "critical path", lines: [critical] };
  const { slices, index, lane } = found;
  const [start, end, count] = [slices.start[index]!, slices.end[index]!, slices.count[index]!];
  const id = slices.name[index]!;
  const length = duration(end - start);
  const share = percent(slices.busy[index]! / Math.max(1, end - start));
  const what = lane.table === "iteration" ? "iteration" : "event";
  const merged = `${plural(count, what)} covering ${share} of ${length}; the name is that of the longest`;
  const starts = `starts at ${moment(start, Math.max(1, (end - start) / 1000))}`;
  const iteration = lane.table === "iteration" && count === 1 ? timeline.iterations?.at(start, end) : undefined;
  if (iteration !== undefined) return { x, y, ...textOfIteration(iteration) };
  const kind = lane.table === "gap" ? "part of idle time" : kindOf(lane.table);
  const lines = [count > 1 ? merged : `${kind}, ${length}`, starts];
  if (critical !== null) lines.push(`critical path: ${critical}`);
  return { x, y, name: id === NO_NAME ? (lane.label ?? lane.table) : shortName(strings.textOf(id)), lines };
}

/** A bit mask has no mean: where several values are merged, those that are different are not shown as one. */
function valueText({ label, unit }: Lane, value: number, low: number, high: number): string {
  if (!label?.includes("throttle.reasons")) return amount(value, unit);
  return low === high ? `0x${value.toString(16)}` : "several values; zoom in";
}

/** The class of the part of the critical path under a point, its length, and what the class takes of the path. */
function criticalLine(timeline: TimelineCanvas, x: number, y: number): string | null {
  const found = timeline.criticalAt(x, y);
  if (found === null) return null;
  const { slices, index, lane } = found;
  const part = timeline.viewer.recording.manifest.critical_path?.parts.find((each) => each.part === lane.label);
  const count = slices.count[index]!;
  const length = `${count > 1 ? `${plural(count, "part")}, ` : ""}${duration(slices.busy[index]!)}`;
  return `${lane.label}, ${length}${part ? ` (${lane.label} in all: ${pct(part.share_pct)} of the path)` : ""}`;
}

export function Tooltip({ pointed, width }: { pointed: Pointed | null; width: number }) {
  if (pointed === null) return null;
  const top = `${pointed.y + 14}px`;
  const style =
    pointed.x > width / 2 ? { right: `${width - pointed.x + 12}px`, top } : { left: `${pointed.x + 12}px`, top };
  return (
    <div class="tooltip" style={style} role="presentation">
      <strong>{pointed.name}</strong>
      {pointed.lines.map((line) => (
        <span key={line}>{line}</span>
      ))}
    </div>
  );
}
