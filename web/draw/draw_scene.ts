// Draws a display list on a surface. Knows lengths, codes and texts only, not recordings, time or tracks.

import { CRITICAL, WORK } from "../layout/colors.ts";
import type { Area, Arrow, Label, Scene } from "../layout/display.ts";
import { drawAnswerBands } from "./draw_answer_bands.ts";
import type { Pen, Surface } from "./pen.ts";
import { css, type Theme } from "./theme.ts";

export const FONT = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/** In css pixels: the caller scales the surface. */
export function drawScene(surface: Surface, scene: Scene, theme: Theme): void {
  const context = surface.pen;
  context.fillStyle = css(theme.ground);
  context.fillRect(0, 0, scene.width, scene.height);
  context.font = FONT;
  context.textBaseline = "middle";
  drawGrid(context, scene, theme);
  for (const area of scene.areas) drawArea(surface, area, scene, theme);
  drawLinks(context, scene, theme);
  drawArrows(context, scene, theme);
  drawRange(context, scene, theme);
  drawMinimap(context, scene, theme);
  drawRuler(context, scene, theme);
  drawAnswerBands(context, scene, theme);
  drawCursor(context, scene, theme);
}

function drawGrid(context: Pen, scene: Scene, theme: Theme): void {
  context.fillStyle = css(theme.raised);
  for (const tick of scene.ruler.ticks) context.fillRect(Math.round(tick.x), 0, 1, scene.height);
}

function drawArea(surface: Surface, area: Area, scene: Scene, theme: Theme): void {
  if (area.height <= 0) return;
  const context = surface.pen;
  context.save();
  context.beginPath();
  context.rect(0, area.top, scene.width, area.height);
  context.clip();
  surface.strips(area.strips, scene.width, theme);
  surface.strips(area.critical, scene.width, theme);
  surface.hatches(area.hatches, theme);
  surface.plots(area.plots, scene.width, scene.scale, theme);
  drawLabels(context, area.labels, theme);
  drawMarks(context, area, theme);
  context.fillStyle = css(theme.line);
  for (const y of area.separators) context.fillRect(0, Math.round(y), scene.width, 1);
  context.lineWidth = 2;
  context.strokeStyle = css(theme.text);
  for (const box of area.selected) context.strokeRect(box.x, box.y, box.width, box.height);
  context.restore();
}

/** Small triangles at the top of a row. */
function drawMarks(context: Pen, area: Area, theme: Theme): void {
  context.fillStyle = css(theme.text);
  context.beginPath();
  for (const { x, y } of area.marks) {
    context.moveTo(x - 3, y - 1);
    context.lineTo(x + 3, y - 1);
    context.lineTo(x, y + 4);
  }
  context.fill();
}

function drawLabels(context: Pen, labels: readonly Label[], theme: Theme): void {
  context.fillStyle = css(theme.ground);
  for (const { x, y, plate } of labels) if (plate !== undefined) context.fillRect(x - 2, y - 6, plate + 4, 12);
  context.fillStyle = css(theme.onSlice);
  for (const label of labels) context.fillText(label.text, label.x, label.y);
}

function drawArrows(context: Pen, scene: Scene, theme: Theme): void {
  context.strokeStyle = context.fillStyle = css(theme.text);
  context.lineWidth = 1.5;
  belowRuler(context, scene, () => scene.arrows.forEach((arrow) => drawArrow(context, arrow)));
}

function drawLinks(context: Pen, scene: Scene, theme: Theme): void {
  if (scene.links.length === 0) return;
  context.strokeStyle = css(theme.fills[CRITICAL]!);
  context.lineWidth = 1;
  belowRuler(context, scene, () => {
    context.beginPath();
    for (const { x0, y0, x1, y1 } of scene.links) {
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
    }
    context.stroke();
  });
}

function belowRuler(context: Pen, scene: Scene, draw: () => void): void {
  const top = scene.ruler.top + scene.ruler.height;
  context.save();
  context.beginPath();
  context.rect(0, top, scene.width, scene.height - top);
  context.clip();
  draw();
  context.restore();
}

function drawArrow(context: Pen, { x0, y0, x1, y1 }: Arrow): void {
  const bend = Math.min(60, Math.max(12, Math.abs(x1 - x0) / 2));
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 7, y1 - 4);
  context.lineTo(x1 - 7, y1 + 4);
  context.fill();
}

function drawRange(context: Pen, scene: Scene, theme: Theme): void {
  if (scene.range === null) return;
  const { x0, x1 } = scene.range;
  const top = scene.ruler.top;
  context.fillStyle = css(theme.accent, 0.12);
  context.fillRect(x0, top, x1 - x0, scene.height - top);
  context.fillStyle = css(theme.accent);
  context.fillRect(x0 - 0.5, top, 1, scene.height);
  context.fillRect(x1 - 0.5, top, 1, scene.height);
}

function drawMinimap(context: Pen, scene: Scene, theme: Theme): void {
  const { minimap, width } = scene;
  context.fillStyle = css(theme.raised);
  context.fillRect(0, minimap.top, width, minimap.height);
  const { shares, x0, x1 } = minimap.busy ?? { shares: [], x0: 0, x1: 0 };
  const step = (x1 - x0) / shares.length;
  context.fillStyle = css(theme.fills[WORK]!);
  shares.forEach((share, i) => {
    const height = share > 0 ? Math.max(1, share * (minimap.height - 4)) : 0;
    context.fillRect(x0 + i * step, minimap.top + minimap.height - 1 - height, step + 0.3, height);
  });
  context.fillStyle = css(theme.ground, 0.65);
  context.fillRect(0, minimap.top, minimap.from, minimap.height);
  context.fillRect(minimap.to, minimap.top, width - minimap.to, minimap.height);
  context.strokeStyle = css(theme.accent);
  context.lineWidth = 1;
  const shown = Math.max(2, minimap.to - minimap.from - 1);
  context.strokeRect(minimap.from + 0.5, minimap.top + 0.5, shown, minimap.height - 1);
}

function drawRuler(context: Pen, scene: Scene, theme: Theme): void {
  const { ruler, width } = scene;
  context.fillStyle = css(theme.ground);
  context.fillRect(0, ruler.top, width, ruler.height);
  context.fillStyle = css(theme.line);
  context.fillRect(0, ruler.top + ruler.height - 1, width, 1);
  let free = 0;
  if (ruler.base !== null) {
    context.fillStyle = css(theme.text);
    context.fillText(ruler.base, 4, ruler.top + 11);
    free = context.measureText(ruler.base).width + 12;
  }
  const measured = measuredTag(context, scene);
  const tags = [...keptTags(context, scene), ...(measured === null ? [] : [measured])];
  for (const tick of ruler.ticks) {
    const x = Math.round(tick.x);
    context.fillStyle = css(theme.quiet);
    context.fillRect(x, ruler.top + ruler.height - 8, 1, 8);
    const room = context.measureText(tick.label).width;
    const isCovered = tags.some((tag) => x + 3 < tag.x + tag.width && x + 3 + room > tag.x);
    if (x + 3 >= free && x + 3 + room <= width && !isCovered) context.fillText(tick.label, x + 3, ruler.top + 11);
  }
  drawKept(context, scene, theme);
  if (scene.range === null || measured === null) return;
  const { x0, x1, text } = scene.range;
  context.fillStyle = css(theme.accent);
  context.fillRect(x0, ruler.top + ruler.height - 5, x1 - x0, 5);
  context.fillRect(measured.x, ruler.top + 3, measured.width, 16);
  context.fillStyle = css(theme.ground);
  context.fillText(text, measured.x + 4, ruler.top + 11);
}

/** The place of the length of the measured range. */
function measuredTag(context: Pen, { range, width }: Scene): { x: number; width: number } | null {
  if (range === null) return null;
  const room = context.measureText(range.text).width + 8;
  return { x: Math.min(Math.max((range.x0 + range.x1 - room) / 2, 0), width - room - 4), width: room };
}

/** The places of the numbers of kept ranges. */
const keptTags = (context: Pen, { kept }: Scene) =>
  kept.map(({ x0, text }) => ({ x: Math.max(x0, 0), width: context.measureText(text).width + 6 }));

/** A line under each kept range, with its number. */
function drawKept(context: Pen, scene: Scene, theme: Theme): void {
  const { kept, ruler } = scene;
  const tags = keptTags(context, scene);
  const bottom = ruler.top + ruler.height;
  kept.forEach(({ x0, x1, text }, i) => {
    const { x: left, width } = tags[i]!;
    context.fillStyle = css(theme.text);
    context.fillRect(x0, bottom - 3, Math.max(1, x1 - x0), 3);
    for (const x of [x0, x1]) context.fillRect(Math.round(x), bottom - 8, 1, 8);
    context.fillRect(left, ruler.top + 2, width, 14);
    context.fillStyle = css(theme.ground);
    context.fillText(text, left + 3, ruler.top + 10);
  });
}

function drawCursor(context: Pen, scene: Scene, theme: Theme): void {
  if (scene.cursor === null) return;
  const { x, text } = scene.cursor;
  context.fillStyle = css(theme.quiet, 0.6);
  context.fillRect(Math.round(x), scene.ruler.top, 1, scene.height);
  const room = context.measureText(text).width + 8;
  const left = Math.min(Math.max(0, x - room / 2), scene.width - room);
  context.fillStyle = css(theme.text);
  context.fillRect(left, scene.ruler.top + 3, room, 16);
  context.fillStyle = css(theme.ground);
  context.fillText(text, left + 4, scene.ruler.top + 11);
}
