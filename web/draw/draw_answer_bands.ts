// Bands of rows of an SQL answer: pale over the tracks, and solid at the lower edge of the ruler, where they are told
// from slices.

import type { Scene } from "../layout/display.ts";
import type { Pen } from "./pen.ts";
import { css, type Theme } from "./theme.ts";

const TICK = 5; // height in css pixels

export function drawAnswerBands(context: Pen, scene: Scene, theme: Theme): void {
  const top = scene.ruler.top + scene.ruler.height;
  for (const { x0, x1 } of scene.answer) {
    context.fillStyle = css(theme.accent, 0.22);
    context.fillRect(x0, top, x1 - x0, scene.height - top);
    context.fillStyle = css(theme.accent);
    context.fillRect(x0, top - TICK, x1 - x0, TICK);
  }
}
