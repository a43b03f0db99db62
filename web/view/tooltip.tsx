// What is under the pointer, beside it: name, length, start; of a merged slice how many events and how much of it they
// cover. Only text; the details panel has the rest.

import { counted, duration, moment, percent } from "../layout/time_text.ts";
import type { Found } from "../model/lane.ts";
import { NO_NAME } from "../model/slices.ts";
import type { Strings } from "../model/strings.ts";

export interface Pointed {
  x: number;
  y: number;
  found: Found;
}

export function Tooltip({ pointed, strings, width }: { pointed: Pointed | null; strings: Strings; width: number }) {
  if (pointed === null) return null;
  const { slices, index, lane } = pointed.found;
  const [start, end, count] = [slices.start[index]!, slices.end[index]!, slices.count[index]!];
  const id = slices.name[index]!;
  const name = id === NO_NAME ? (lane.label ?? lane.table) : strings.textOf(id);
  const left = pointed.x > width / 2;
  const style = left ? { right: `${width - pointed.x + 12}px`, top: `${pointed.y + 14}px` } : { left: `${pointed.x + 12}px`, top: `${pointed.y + 14}px` };
  return (
    <div class="tooltip" style={style} role="presentation">
      <strong>{name}</strong>
      {count > 1 ? (
        <span>
          {counted(count, "event")} in {duration(end - start)}, {percent(slices.busy[index]! / Math.max(1, end - start))} covered; the name is of the longest
        </span>
      ) : (
        <span>
          {lane.table === "gap" ? "idle" : lane.table}, {duration(end - start)}
        </span>
      )}
      <span>at {moment(start, Math.max(1, (end - start) / 1000))}</span>
    </div>
  );
}
