// A counter as points in time order, at the level that fits a width; low and high are the extremes of merged values.

import { BLOB, chunksIn, levelFor } from "./lane.ts";
import type { Lane } from "./manifest.ts";
import type { Recording } from "./recording.ts";
import type { Range } from "./range.ts";

export interface Point {
  time: number;
  low: number;
  high: number;
}

export async function pointsOf(recording: Recording, lane: Lane, view: Range, pixels: number): Promise<Point[]> {
  const level = lane.levels[levelFor(lane, (view.to - view.from) / pixels)];
  const points: Point[] = [];
  for (const chunk of level ? chunksIn(level, view.from, view.to) : []) {
    const values = await recording.chunks.loadValues(chunk[BLOB]);
    if (values === null) throw new Error("part of the recording cannot be read");
    for (let i = 0; i < values.length; i++)
      points.push({ time: values.time[i]!, low: values.low[i]!, high: values.high[i]! });
  }
  return points.filter((point) => point.time <= view.to);
}
