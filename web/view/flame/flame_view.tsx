// One tree of calls as nested boxes. A click zooms to a box; arrows move from box to box, Enter zooms, Escape zooms
// out. Boxes that a search does not match are dimmed.

import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { pct } from "../../layout/cell_text.ts";
import { colorOf as colorOfEvent, DIMMED } from "../../layout/colors.ts";
import { flameBoxes, type FlameBox } from "../../layout/flame_boxes.ts";
import { visible } from "../../layout/short_name.ts";
import { duration, exact, grouped, plural } from "../../layout/time_text.ts";
import type { CallNode, Time } from "../../model/range/call_tree.ts";
import { nodeAt, type FramePath } from "../../model/range/flame_shape.ts";
import { NameText } from "../parts/name_text.tsx";
import { useFill } from "../parts/use_fill.ts";
import { px, useWidth } from "../parts/use_width.ts";

const ROW = 18; // css pixels
const MIN_LABEL_WIDTH = 30;

interface Props {
  root: CallNode;
  time: Time;
  label: string;
  isMatch: ((name: string) => boolean) | null;
  isUpward?: boolean; // the root at the bottom
  zoom: FramePath; // to the box that is as wide as the picture
  onZoom: (node: CallNode) => void;
  onEvents: (node: CallNode) => void; // to the timeline
  onSandwich?: ((node: CallNode) => void) | undefined;
}

export function FlameView(props: Props) {
  const { root, time, label, isMatch, isUpward = false, zoom: path, onZoom, onEvents, onSandwich } = props;
  const [element, width] = useWidth<HTMLDivElement>();
  const top = useMemo(() => nodeAt(root, path), [root, path]);
  const [focused, setFocused] = useState(top);
  const fill = useFill();
  useLayoutEffect(() => setFocused(top), [top]);
  const flame = useMemo(() => flameBoxes(top, width), [top, width]);
  const zoom = (node: CallNode) => {
    setFocused(node); // also if it is as wide already
    onZoom(node);
  };
  const press = (event: KeyboardEvent) => {
    const to = neighbours(flame.boxes, focused, isUpward)[event.key];
    if (to) setFocused(to);
    else if (event.key === "Enter") zoom(focused);
    else if (event.key === "Backspace" || (event.key === "Escape" && top !== root)) zoom(top.parent ?? top);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const colorOf = (node: CallNode) =>
    fill(node.table === "" || (isMatch !== null && !isMatch(node.name)) ? DIMMED : colorOfEvent(node.table, node.name));
  const placeOf = (x: number, width: number, depth: number) => {
    const top = px((isUpward ? flame.depth - 1 - depth : depth) * ROW);
    return { left: px(x), top, width: px(Math.max(1, width - 1)), height: px(ROW - 1) };
  };
  const hidden = flame.hidden === 1 ? "1 stack is" : `${grouped(flame.hidden)} stacks are`;
  const tree = { class: "flame", ref: element, tabIndex: 0, role: "tree", onKeyDown: press } as const;
  return (
    <>
      <p class="focused" role="status">
        <strong>{visible(focused.name)}</strong> {figures(focused, root, time)}{" "}
        {focused.table !== "" && (
          <button class="handle" onClick={() => onEvents(focused)}>Show on the timeline</button>
        )}{" "}
        {focused.table !== "" && onSandwich && (
          <button class="handle" onClick={() => onSandwich(focused)}>Callers and callees</button>
        )}{" "}
        {top !== root && (
          <button class="handle" onClick={() => zoom(root)}>Show all</button>
        )}
      </p>
      <div {...tree} aria-label={label} style={{ height: px(flame.depth * ROW) }}>
        {flame.boxes.map(({ node, x, width, depth }, i) => (
          <div
            key={i}
            role="treeitem"
            aria-level={depth + 1}
            aria-selected={node === focused}
            class={`box${node === focused ? " focused-box" : ""}${isMatch?.(node.name) ? " matched-box" : ""}`}
            style={{ ...placeOf(x, width, depth), background: colorOf(node) }}
            title={`${node.name}\n${figures(node, root, time)}\n${time} ${exact(node.total)}, self ${exact(node.self)}`}
            onClick={() => zoom(node)}
          >
            {width > MIN_LABEL_WIDTH && <NameText name={node.name} />}
          </div>
        ))}
      </div>
      {flame.hidden > 0 && <p class="about">{hidden} too narrow to draw. Click a box to zoom in.</p>}
    </>
  );
}

function figures(node: CallNode, root: CallNode, time: Time): string {
  const share = root.total > 0 ? ` (${pct((node.total / root.total) * 100)})` : "";
  const self = node.self > 0 && node.self < node.total && `self ${duration(node.self)}`;
  const parts = [node.count > 0 && plural(node.count, "instance"), `${time} ${duration(node.total)}${share}`, self];
  return parts.filter(Boolean).join(", ");
}

/** The targets of the arrow keys: away from the root is the largest child, left and right are siblings. */
function neighbours(boxes: FlameBox[], node: CallNode, isUpward: boolean): Record<string, CallNode | undefined> {
  const others = boxes.map((box) => box.node);
  const siblings = others.filter(({ parent }) => parent === node.parent && parent !== null);
  const at = siblings.indexOf(node);
  const child = boxes.find((box) => box.node.parent === node)?.node;
  const parent = boxes.find((box) => box.node === node.parent)?.node;
  return {
    [isUpward ? "ArrowUp" : "ArrowDown"]: child,
    [isUpward ? "ArrowDown" : "ArrowUp"]: parent,
    ArrowLeft: siblings[at - 1],
    ArrowRight: siblings[at + 1],
  };
}
