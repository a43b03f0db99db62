// The flame graph of a range answer: by host time, device time or idle time; from threads to callees, inverted to
// callers, or both around one function; with or without Python functions; with a search that says how much it matches.

import { useMemo } from "preact/hooks";
import { pct } from "../../layout/cell_text.ts";
import { duration } from "../../layout/time_text.ts";
import {
  callees, callers, frameKey, matchedTime, sandwich, stacksOf, TIMES, type CallNode, type Time, type WeightedStack,
} from "../../model/range/call_tree.ts";
import { pathOf, type FlameShape, type FlameView as Shape } from "../../model/range/flame_shape.ts";
import { showInRange } from "../../model/range/range_navigation.ts";
import type { RangeAnswer } from "../../model/range/range_answer.ts";
import { matcher } from "../../model/search/search_query.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { KindLegend } from "../parts/kind_legend.tsx";
import { useViewerState } from "../parts/use_state.ts";
import { FlameView } from "./flame_view.tsx";

const SHAPES: Readonly<Record<Shape, string>> =
  { callees: "callees", callers: "callers (inverted)", sandwich: "callers and callees of a function" };

const TIME_NAMES: Readonly<Record<Time, string>> =
  { host: "host time", device: "submitted device time", idle: "GPU idle time" };

interface Named {
  table: string;
  name: string;
}

export function FlamePanel({ viewer, answer, label }: { viewer: Viewer; answer: RangeAnswer; label: string }) {
  const flame = useViewerState(viewer, (state) => state.flame);
  const { time: chosen, view: shape, python, about, zoom, callersZoom } = flame;
  const query = useViewerState(viewer, (state) => state.flameSearch);
  const set = (change: Partial<FlameShape>) => viewer.set({ flame: { ...viewer.state.flame, ...change } });
  const setTree = (change: Partial<FlameShape>) => set({ ...change, zoom: [], callersZoom: [] }); // another tree
  const hasPython = viewer.recording.manifest.lanes.some((lane) => lane.table === "python_call");
  const times = useMemo(() => TIMES.filter((time) => stacksOf(answer, time, true).length > 0), [answer]);
  const time = times.includes(chosen) ? chosen : (times[0] ?? "host");
  const stacks = useMemo(() => stacksOf(answer, time, python), [answer, time, python]);
  const all = stacks.reduce((sum, { ns }) => sum + ns, 0);
  const found = query === "" ? null : matcher(query);
  const isMatch = found?.ok ? found.value : null;
  const center = about === null ? largest(stacks) : fromKey(about);
  const show = (node: CallNode) => void showInRange(viewer, answer.range, node.table, node.name);
  const view = { time, isMatch, onEvents: show };
  const zoomed = { zoom, onZoom: (node: CallNode) => set({ zoom: pathOf(node) }) };
  const above = { zoom: callersZoom, onZoom: (node: CallNode) => set({ callersZoom: pathOf(node) }) };
  const widths = times.map((each) => [each, TIME_NAMES[each]] as const);
  const shapes = Object.entries(SHAPES) as [Shape, string][];
  const turn = (node: CallNode) => setTree({ view: "sandwich", about: frameKey(node) });
  const isTree = shape !== "sandwich";
  const showAround = (about: string) => setTree({ about });
  const addPython = (event: { currentTarget: HTMLInputElement }) => setTree({ python: event.currentTarget.checked });
  return (
    <>
      <p class="tools-line">
        <Choice name="Width" value={time} options={widths} onChange={(time) => setTree({ time })} />
        <Choice name="View" value={shape} options={shapes} onChange={(view) => setTree({ view })} />
        {!isTree && (
          <Choice name="Function" value={keyOf(center)} options={functionsOf(stacks)} onChange={showAround} />
        )}
        {hasPython && (
          <label>
            <input type="checkbox" checked={python} onChange={addPython} /> Include Python functions
          </label>
        )}
        <input
          type="search" value={query} placeholder="Search, or /regex/" aria-label="Search the flame graph"
          onInput={(event) => viewer.set({ flameSearch: event.currentTarget.value })}
        />
        <span role="status">{found && !found.ok ? found.error : isMatch && matchText(stacks, isMatch, all)}</span>
      </p>
      <p class="about">{summaryOf(stacks, time, all)}</p>
      {all > 0 && isTree && <Tree {...{ stacks, shape, label }} view={{ ...view, ...zoomed }} onSandwich={turn} />}
      {all > 0 && !isTree && center && (
        <Around {...{ stacks, center, label }} above={{ ...view, ...above }} below={{ ...view, ...zoomed }} />
      )}
      {time === "device" && <KindLegend viewers={[viewer]} />}
    </>
  );
}

type View = Pick<Parameters<typeof FlameView>[0], "time" | "isMatch" | "zoom" | "onZoom" | "onEvents">;

type OnNode = (node: CallNode) => void;
type TreeProps = { stacks: WeightedStack[]; shape: Shape; label: string; view: View; onSandwich: OnNode };

function Tree({ stacks, shape, label, view, onSandwich }: TreeProps) {
  const root = useMemo(() => (shape === "callers" ? callers(stacks) : callees(stacks)), [stacks, shape]);
  return <FlameView root={root} label={label} onSandwich={onSandwich} {...view} />;
}

type AroundProps = { stacks: WeightedStack[]; center: Named; label: string; above: View; below: View };

function Around({ stacks, center, label, above, below }: AroundProps) {
  const both = useMemo(() => sandwich(stacks, center.table, center.name), [stacks, center.table, center.name]);
  if (both.callees.total === 0) return <p class="about">{center.name} is not in this range.</p>;
  return (
    <>
      <h3>Callers of {center.name}</h3>
      <FlameView root={both.callers} label={`${label}: callers`} isUpward {...above} />
      <h3>Callees of {center.name}</h3>
      <FlameView root={both.callees} label={`${label}: callees`} {...below} />
    </>
  );
}

type Options<T> = readonly (readonly [T, string])[];
type ChoiceProps<T> = { name: string; value: T; options: Options<T>; onChange: (value: T) => void };

function Choice<T extends string>({ name, value, options, onChange }: ChoiceProps<T>) {
  return (
    <label>
      {name}:{" "}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {options.map(([key, text]) => (
          <option key={key} value={key}>{text}</option>
        ))}
      </select>
    </label>
  );
}

const keyOf = (each: Named | null): string => (each === null ? "" : frameKey(each));

function fromKey(key: string): Named {
  const at = key.indexOf(" ");
  return { table: key.slice(0, at), name: key.slice(at + 1) };
}

/** The functions by self time, most first. */
function functionsOf(stacks: readonly WeightedStack[]): [key: string, name: string][] {
  const times = new Map<string, number>();
  for (const { frames, ns } of stacks)
    frames.forEach((frame, i) => {
      const own = i === frames.length - 1 ? ns : 0;
      if (frame.table !== "") times.set(frameKey(frame), (times.get(frameKey(frame)) ?? 0) + own);
    });
  return [...times].sort((a, b) => b[1] - a[1]).map(([key]) => [key, fromKey(key).name]);
}

function largest(stacks: readonly WeightedStack[]): Named | null {
  const [first] = functionsOf(stacks);
  return first ? fromKey(first[0]) : null;
}

function matchText(stacks: readonly WeightedStack[], isMatch: (name: string) => boolean, all: number): string {
  const ns = matchedTime(stacks, isMatch);
  return all > 0 ? `matches ${duration(ns)}, ${pct((ns / all) * 100)}` : "";
}

function summaryOf(stacks: readonly WeightedStack[], time: Time, all: number): string {
  if (stacks.length === 0) return "No events in this range.";
  if (time === "host") return `${duration(all)} of host time, summed over threads.`;
  const unknown = stacks.reduce((sum, { frames, ns }) => (frames[0]?.table === "" ? sum : sum + ns), 0);
  const about = {
    device: `${duration(all)} of device time, below the calls that submitted the work.`,
    idle: `${duration(all)} of idle time, summed over GPUs, below what the thread that explains it was in.`,
  }[time];
  const what = time === "device" ? "call" : "thread";
  return unknown > 0 ? `${about} For ${duration(unknown)} the ${what} is unknown.` : about;
}
