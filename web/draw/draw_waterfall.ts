// Draws the bars of one step over ranks, the critical path through them, and the errors of clocks, in css pixels.

import { CRITICAL } from "../layout/colors.ts";
import { ticksOf } from "../layout/ticks.ts";
import { heightOf, xOf, yOf, type Waterfall } from "../layout/waterfall.ts";
import { jobColors } from "./heat_colors.ts";
import { FONT } from "./draw_scene.ts";
import type { Pen } from "./pen.ts";
import { css, type Theme } from "./theme.ts";

const LABEL = 12; // css pixels that a label needs

export interface WaterfallFrame {
  fall: Waterfall;
  parts: readonly string[];
  labelOf: (rank: number) => string;
  chosen: number | null; // rank
}

export function drawWaterfall(context: Pen, frame: WaterfallFrame, theme: Theme): void {
  const { left, width, height } = frame.fall;
  context.fillStyle = css(theme.ground);
  context.fillRect(0, 0, left + width + left, height); // to the right edge and beyond
  context.font = FONT;
  drawAxis(context, frame.fall, theme);
  drawBars(context, frame, theme);
  drawErrors(context, frame.fall, theme);
  drawPath(context, frame.fall, theme);
}

function drawAxis(context: Pen, fall: Waterfall, theme: Theme): void {
  const { picture, width, height, top } = fall;
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const { at, label } of ticksOf({ from: picture.from, to: picture.to }, width).ticks) {
    const x = Math.round(xOf(fall, at));
    context.fillStyle = css(theme.line);
    context.fillRect(x, 4, 1, height);
    context.fillStyle = css(theme.quiet);
    context.fillText(label, x + 4, top / 2);
  }
}

function drawBars(context: Pen, { fall, parts, labelOf, chosen }: WaterfallFrame, theme: Theme): void {
  const colors = jobColors(theme).parts;
  const fills = parts.map((part) => css(colors.get(part) ?? theme.quiet));
  const shares = parts.map(heightOf);
  let labelled = -Infinity;
  const chosenAt = chosen === null ? -Infinity : yOf(fall, fall.lineOf.get(chosen) ?? -Infinity);
  fall.bars.forEach((bar, line) => {
    const y = yOf(fall, line);
    if (bar.rank === chosen) {
      context.fillStyle = css(theme.accent, 0.18);
      context.fillRect(0, y - 1, fall.left + fall.width, fall.thick + 2);
    }
    bar.parts.forEach((part, i) => {
      const [from, to] = [xOf(fall, bar.starts[i]!), xOf(fall, bar.starts[i + 1] ?? bar.end)];
      const thick = Math.max(1, fall.thick * shares[part]!);
      context.fillStyle = fills[part]!;
      context.fillRect(from, y + (fall.thick - thick) / 2, Math.max(0.5, to - from), thick);
    });
    const isNear = Math.abs(y - chosenAt) < LABEL;
    if (bar.rank !== chosen && (isNear || y - labelled < LABEL)) return;
    labelled = y;
    context.fillStyle = css(bar.rank === chosen ? theme.text : theme.quiet);
    context.textAlign = "right";
    context.textBaseline = "middle";
    const label = labelOf(bar.rank) + (bar.clockError === null ? " ?" : "");
    context.fillText(label, fall.left - 8, y + fall.thick / 2, fall.left - 10);
  });
}

/** How far a bar may be shifted: its clock's error, left and right of its start. */
function drawErrors(context: Pen, fall: Waterfall, theme: Theme): void {
  context.fillStyle = css(theme.text);
  fall.bars.forEach((bar, line) => {
    if (bar.clockError === null || fall.pitch < 5) return;
    const [from, to] = [xOf(fall, bar.start - bar.clockError), xOf(fall, bar.start + bar.clockError)];
    if (to - from < 1) return;
    const y = yOf(fall, line);
    context.fillRect(from, y + fall.thick / 2 - 0.5, to - from, 1);
    context.fillRect(from, y, 1, fall.thick);
    context.fillRect(to - 1, y, 1, fall.thick);
  });
}

/** Along the lower edge of a bar while its rank is critical, and from bar to bar where it changes. */
function drawPath(context: Pen, fall: Waterfall, theme: Theme): void {
  const draw = (width: number, color: string) => {
    context.lineWidth = width;
    context.strokeStyle = color;
    context.lineJoin = "round";
    context.beginPath();
    let before: number | null = null;
    for (const { rank, from, to } of fall.picture.path) {
      const line = fall.lineOf.get(rank);
      if (line === undefined) {
        before = null; // a rank that is not shown
        continue;
      }
      const y = yOf(fall, line) + fall.thick - 1;
      if (before === null) context.moveTo(xOf(fall, from), y);
      else context.lineTo(xOf(fall, from), y);
      context.lineTo(xOf(fall, to), y);
      before = line;
    }
    context.stroke();
  };
  draw(fall.pitch >= 6 ? 4 : 3, css(theme.ground));
  draw(fall.pitch >= 6 ? 2 : 1.5, css(theme.fills[CRITICAL]!));
}
