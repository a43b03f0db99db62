// A part of the page as SVG elements: boxes with their grounds and borders, lines of text as text, charts with their
// styles written out, canvases drawn again as shapes. What only serves the reader of the page (menus, buttons, fields)
// is omitted, and what is scrolled or cut away is not drawn.

import type { Drawn } from "../../draw/picture.ts";
import { boxOf, num, paint, xml } from "../../draw/svg_pen.ts";
import type { Theme } from "../../draw/theme.ts";
import { canvasPicture } from "./canvas_pictures.ts";
import { copyOfChart } from "./chart_copy.ts";
import { linesOf } from "./text_lines.ts";

const LEFT_OUT = [
  "h1, h2, input, select, textarea, .menu, .actions, .icon, .spoken, .tooltip, .tools-line, .focused, [data-unsaved]",
  "button:not(.treemap button, .bars button, .strip button, .handle)",
].join(", ");

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

function intersection(a: Box, b: Box): Box {
  const [left, top] = [Math.max(a.left, b.left), Math.max(a.top, b.top)];
  return { left, top, right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) };
}

function hull(a: Box, b: Box): Box {
  const [left, top] = [Math.min(a.left, b.left), Math.min(a.top, b.top)];
  return { left, top, right: Math.max(a.right, b.right), bottom: Math.max(a.bottom, b.bottom) };
}
const isEmpty = ({ left, top, right, bottom }: Box): boolean => right - left < 0.5 || bottom - top < 0.5;

export function pictureOf(root: Element, theme: Theme): Drawn {
  const drawing = new Drawing(theme);
  const all = root.getBoundingClientRect();
  drawing.element(root, all);
  const { left, top, right, bottom } = drawing.extent ?? all;
  const markup = `<g transform="translate(${num(-left)} ${num(-top)})">${drawing.parts.join("")}</g>`;
  return { markup, width: right - left, height: bottom - top };
}

class Drawing {
  readonly parts: string[] = [];
  extent: Box | null = null; // of everything drawn

  constructor(private readonly theme: Theme) {}

  element(element: Element, clip: Box): void {
    if (element.matches(LEFT_OUT)) return;
    const style = getComputedStyle(element);
    if (style.display === "none" || style.visibility === "hidden") return;
    const box = element.getBoundingClientRect();
    if (element instanceof SVGSVGElement) return this.put(box, copyOfChart(element, box), clip);
    if (element instanceof HTMLCanvasElement) return this.canvas(element, box, clip);
    this.ground(style, box, clip);
    this.ramp(style, box, clip);
    const inner = style.overflowX === "visible" && style.overflowY === "visible" ? clip : intersection(clip, box);
    if (isEmpty(inner)) return;
    for (const child of element.childNodes) {
      if (child instanceof Element) this.element(child, inner);
      else if (child instanceof Text) this.text(child, style, inner);
    }
  }

  /** Extends the picture by what is drawn in a box. */
  private put(box: Box, markup: string, clip: Box): void {
    const seen = intersection(box, clip);
    if (isEmpty(seen)) return;
    this.parts.push(markup);
    this.extent = this.extent === null ? seen : hull(this.extent, seen);
  }

  private canvas(canvas: HTMLCanvasElement, box: DOMRect, clip: Box): void {
    const drawn = canvasPicture(canvas, this.theme);
    if (drawn === null) return;
    const used = new DOMRect(box.left, box.top, box.width, Math.min(box.height, drawn.height));
    const place = boxOf(used.left, used.top, used.width, used.height);
    this.put(used, `<svg ${place} overflow="hidden">${drawn.markup}</svg>`, clip);
  }

  private ground(style: CSSStyleDeclaration, box: DOMRect, clip: Box): void {
    const fill = style.backgroundColor;
    const isFilled = fill !== "rgba(0, 0, 0, 0)" && fill !== "transparent";
    const line = style.borderTopStyle === "none" ? 0 : parseFloat(style.borderTopWidth);
    const isFramed = line > 0 && parseFloat(style.borderLeftWidth) > 0;
    const edge = isFramed ? style.borderTopColor : null;
    if (line > 0 && !isFramed) this.rule(style, line, box, clip);
    const seen = intersection(box, clip);
    if ((!isFilled && edge === null) || isEmpty(seen)) return;
    const place = boxOf(seen.left, seen.top, seen.right - seen.left, seen.bottom - seen.top);
    const stroke = edge === null ? "" : ` ${paint("stroke", edge)}`;
    this.put(box, `<rect ${place} ${isFilled ? paint("fill", fill) : 'fill="none"'}${stroke}/>`, clip);
  }

  /** A border at the top alone, as keys of curves have. */
  private rule(style: CSSStyleDeclaration, thick: number, box: DOMRect, clip: Box): void {
    const y = num(box.top + thick / 2);
    const dashes = style.borderTopStyle === "dashed" ? ` stroke-dasharray="${2 * thick} ${thick}"` : "";
    const stroke = `${paint("stroke", style.borderTopColor)} stroke-width="${num(thick)}"${dashes}`;
    const place = new DOMRect(box.left, box.top, box.width, Math.max(box.height, thick));
    this.put(place, `<path d="M${num(box.left)} ${y}H${num(box.right)}" ${stroke}/>`, clip);
  }

  /** A linear gradient of hard stops, from left to right, as the legend of a heat map has. */
  private ramp(style: CSSStyleDeclaration, box: DOMRect, clip: Box): void {
    if (!style.backgroundImage.startsWith("linear-gradient(90deg")) return;
    const colors = [...style.backgroundImage.matchAll(/(rgba?\([^)]*\)) ([\d.]+)%(?: ([\d.]+)%)?/g)];
    const stops = colors.flatMap(([, color, from, to]) =>
      [from, to].flatMap((at) => (at === undefined ? [] : [{ color: color!, at: Number(at) / 100 }])),
    );
    stops.slice(1).forEach(({ at: to }, i) => {
      const { color, at: from } = stops[i]!;
      const place = boxOf(box.left + box.width * from, box.top, box.width * (to - from) + 0.5, box.height);
      if (to > from) this.put(box, `<rect ${place} ${paint("fill", color)}/>`, clip);
    });
  }

  private text(text: Text, style: CSSStyleDeclaration, clip: Box): void {
    const size = parseFloat(style.fontSize);
    for (const { words, box } of linesOf(text, clip.right)) {
      const middle = (box.top + box.bottom) / 2;
      if (middle < clip.top || middle > clip.bottom || box.left >= clip.right || box.right <= clip.left) continue;
      const weight = Number(style.fontWeight) >= 600 ? ' font-weight="600"' : "";
      const font = `font-size="${num(size)}"${weight} ${paint("fill", style.color)}`;
      const text = `<text x="${num(box.left)}" y="${num(middle + size * 0.35)}" ${font}>${xml(words)}</text>`;
      this.put(box, text, clip);
    }
  }
}
