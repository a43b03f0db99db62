// Call nesting summed over all instances: the width of a box is its host time, or the device time of the work that it
// submitted. A click zooms to a box; arrows move from box to box.

import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { pct } from "../../layout/cell_text.ts";
import { DIMMED, hueOf } from "../../layout/colors.ts";
import { flameBoxes, type FlameBox, type Metric } from "../../layout/flame_boxes.ts";
import { shortName } from "../../layout/short_name.ts";
import { plural, duration, exact, grouped } from "../../layout/time_text.ts";
import { reportedPart, showName } from "../../model/row_navigation.ts";
import { MAX_EVENTS, stackTree, type StackNode, type StackTree } from "../../model/stack_tree.ts";
import type { Viewer } from "../../model/viewer.ts";
import type { ChartProps } from "../charts.tsx";
import { useFill } from "../use_fill.ts";
import { useWidth } from "../use_width.ts";
import { MissingChart, ChartSection } from "./chart_section.tsx";

const TITLE = "Flame graph of ranges, operators and API calls";
const ROW = 18; // css pixels
const MIN_LABEL_WIDTH = 30;

export function FlameGraph({ viewer, report }: ChartProps) {
  const { tracks, lanes } = viewer.recording.manifest;
  const hasPython = tracks.some((track) => track.kind === "python");
  const hasHost = lanes.some((lane) => tracks[lane.track]!.kind === "thread" && lane.events > 0) || hasPython;
  const [python, setPython] = useState(false);
  const [metric, setMetric] = useState<Metric>("host_ns");
  const [{ tree, error }, setState] = useState<{ tree?: StackTree; error?: string }>({});
  useEffect(() => {
    let current = true;
    setState({});
    if (hasHost)
      stackTree(viewer.recording, python ? ["thread", "python"] : ["thread"], reportedPart(viewer.recording), () => current).then(
        (tree) => tree && current && setState({ tree }),
        (error: unknown) => current && setState({ error: String(error) }),
      );
    return () => void (current = false);
  }, [viewer, python]);
  if (!hasHost) return <MissingChart id="flame" title={TITLE} report={report} table="" otherwise="No host ranges, operators or API calls were recorded." />;
  const tools = (
    <p class="tools-line">
      <label>
        Width:{" "}
        <select value={metric} onChange={(event) => setMetric(event.currentTarget.value as Metric)}>
          <option value="host_ns">host time</option>
          <option value="device_ns">submitted device time</option>
        </select>
      </label>
      {hasPython && (
        <label>
          <input type="checkbox" checked={python} onChange={(event) => setPython(event.currentTarget.checked)} /> Include Python functions
        </label>
      )}
    </p>
  );
  return (
    <ChartSection id="flame" title={TITLE} tools={tools} about={error ?? (tree ? summaryOf(tree, metric) : "Reading events…")}>
      {tree && tree.root[metric] > 0 && <Boxes viewer={viewer} tree={tree} metric={metric} />}
    </ChartSection>
  );
}

function summaryOf(tree: StackTree, metric: Metric): string {
  const omitted = tree.omitted > 0 ? ` Limited to the first ${grouped(MAX_EVENTS)} events; ${plural(tree.omitted, "event")} omitted.` : "";
  if (metric === "host_ns") return `${duration(tree.root.host_ns)} of host time in ${plural(tree.events, "event")}, summed over threads.${omitted}`;
  const unknown = tree.unknown_ns > 0 ? ` For another ${duration(tree.unknown_ns)} the launch is unknown.` : "";
  return `${duration(tree.root.device_ns)} of device time, attributed to the calls that submitted the work.${unknown}${omitted}`;
}

function Boxes({ viewer, tree, metric }: { viewer: Viewer; tree: StackTree; metric: Metric }) {
  const [element, width] = useWidth<HTMLDivElement>();
  const [top, setTop] = useState<StackNode>(tree.root); // as wide as the chart
  const [focused, setFocused] = useState<StackNode>(tree.root);
  const fill = useFill();
  useLayoutEffect(() => {
    setTop(tree.root);
    setFocused(tree.root);
  }, [tree, metric]);
  const flame = useMemo(() => flameBoxes(top, metric, width), [top, metric, width]);
  const zoom = (node: StackNode) => {
    setTop(node);
    setFocused(node);
  };
  const press = (event: KeyboardEvent) => {
    const to = neighbours(flame.boxes, focused)[event.key];
    if (to) setFocused(to);
    else if (event.key === "Enter") zoom(focused);
    else if (event.key === "Escape" || event.key === "Backspace") zoom(top.parent ?? top);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <p class="focused" role="status">
        <strong>{focused.name}</strong> {figures(focused, tree)}{" "}
        {focused.table !== "" && (
          <button class="handle" onClick={() => void showName(viewer, [focused.table], focused.name)}>
            Show on the timeline
          </button>
        )}{" "}
        {top !== tree.root && (
          <button class="handle" onClick={() => zoom(tree.root)}>
            Show all
          </button>
        )}
      </p>
      <div class="flame" ref={element} tabIndex={0} role="tree" aria-label={TITLE} style={{ height: `${flame.depth * ROW}px` }} onKeyDown={press}>
        {flame.boxes.map(({ node, x, width, depth }, i) => (
          <div
            key={i}
            role="treeitem"
            aria-level={depth + 1}
            aria-selected={node === focused}
            class={node === focused ? "box focused-box" : "box"}
            style={{ left: `${x}px`, top: `${depth * ROW}px`, width: `${Math.max(1, width - 1)}px`, height: `${ROW - 1}px`, background: fill(node.table === "" ? DIMMED : hueOf(node.name)) }}
            title={`${node.name}\n${figures(node, tree)}\nhost ${exact(node.host_ns)}, device ${exact(node.device_ns)}`}
            onClick={() => zoom(node)}
          >
            {width > MIN_LABEL_WIDTH && shortName(node.name)}
          </div>
        ))}
      </div>
      {flame.hidden > 0 && <p class="about">{flame.hidden === 1 ? "1 stack is" : `${grouped(flame.hidden)} stacks are`} too narrow to draw. Click a box to zoom in.</p>}
    </>
  );
}

function figures(node: StackNode, tree: StackTree): string {
  const share = (value: number, all: number) => (all > 0 ? ` (${pct((value / all) * 100)})` : "");
  return [
    node.count > 0 && plural(node.count, "instance"),
    `host ${duration(node.host_ns)}${share(node.host_ns, tree.root.host_ns)}`,
    `device ${duration(node.device_ns)}${share(node.device_ns, tree.root.device_ns)}`,
  ].filter(Boolean).join(", ");
}

/** The targets of the arrow keys: down is the largest child, left and right are siblings. */
function neighbours(boxes: FlameBox[], node: StackNode): Record<string, StackNode | undefined> {
  const siblings = boxes.filter((box) => box.node.parent === node.parent && box.node.parent !== null).map((box) => box.node);
  const at = siblings.indexOf(node);
  const isShown = (wanted: StackNode | null) => boxes.find((box) => box.node === wanted)?.node;
  return {
    ArrowDown: boxes.find((box) => box.node.parent === node)?.node,
    ArrowUp: isShown(node.parent),
    ArrowLeft: siblings[at - 1],
    ArrowRight: siblings[at + 1],
  };
}
