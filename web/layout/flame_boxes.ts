// A tree of calls as nested boxes: the width is the share of the time, the largest child comes first. Boxes narrower
// than MIN_WIDTH are omitted and counted.

import type { CallNode } from "../model/range/call_tree.ts";

const MIN_WIDTH = 1.5; // css pixels

export interface FlameBox {
  node: CallNode;
  x: number;
  width: number;
  depth: number;
}

export interface Flame {
  boxes: FlameBox[]; // parents before children
  depth: number; // rows
  hidden: number; // nodes too narrow to show, with their descendants
}

export function flameBoxes(root: CallNode, width: number): Flame {
  const flame: Flame = { boxes: [], depth: 0, hidden: 0 };
  const add = (node: CallNode, x: number, room: number, depth: number) => {
    flame.boxes.push({ node, x, width: room, depth });
    flame.depth = Math.max(flame.depth, depth + 1);
    const children = [...node.children.values()].filter(({ total }) => total > 0).sort((a, b) => b.total - a.total);
    let at = x;
    for (const child of children) {
      const share = (child.total / node.total) * room;
      if (share < MIN_WIDTH) flame.hidden++;
      else add(child, at, share, depth + 1);
      at += share;
    }
  };
  if (root.total > 0) add(root, 0, width, 0);
  return flame;
}
