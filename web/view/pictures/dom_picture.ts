// A part of the page as SVG elements: boxes with their grounds and borders, lines of text as text, charts with their
// styles written out, canvases drawn again as shapes. What only serves the reader of the page (menus, buttons, fields) is
// left out, and what is scrolled or cut away is not drawn.

import type { Drawn } from "../../draw/picture.ts";
import { num, paint, xml } from "../../draw/svg_pen.ts";
import type { Theme } from "../../draw/theme.ts";
import { canvasPicture } from "./canvas_pictures.ts";
import { copyOfChart } from "./chart_copy.ts";
import { linesOf } from "./text_lines.ts";

const LEFT_OUT = "h1, h2, input, select, textarea, .menu, .actions, .icon, .spoken, .tooltip, .tools-line, .focused, [data-unsaved], button:not(.treemap button, .bars button, .strip button, .handle)";

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const intersection = (a: Box, b: Box): Box => ({ left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) });
const isEmpty = ({ left, top, right, bottom }: Box): boolean => right - left < 0.5 || bottom - top < 0.5;

export function pictureOf(root: Element, theme: Theme): Drawn {
  const drawing = new Drawing(theme);
  const all = root.getBoundingClientRect();
  drawing.element(root, all);
  const { left, top, right, bottom } = drawing.extent ?? all;
  return { markup: `<g transform="translate(${num(-left)} ${num(-top)})">${drawing.parts.join("")}</g>`, width: right - left, height: bottom - top };
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
    const { extent: all } = this;
    this.extent = all === null ? seen : { left: Math.min(all.left, seen.left), top: Math.min(all.top, seen.top), right: Math.max(all.right, seen.right), bottom: Math.max(all.bottom, seen.bottom) };
  }

  private canvas(canvas: HTMLCanvasElement, box: DOMRect, clip: Box): void {
    const drawn = canvasPicture(canvas, this.theme);
    if (drawn === null) return;
    const used = new DOMRect(box.left, box.top, box.width, Math.min(box.height, drawn.height));
    this.put(used, `<svg x="${num(used.left)}" y="${num(used.top)}" width="${num(used.width)}" height="${num(used.height)}" overflow="hidden">${drawn.markup}</svg>`, clip);
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
    const [width, height] = [seen.right - seen.left, seen.bottom - seen.top];
    this.put(box, `<rect x="${num(seen.left)}" y="${num(seen.top)}" width="${num(width)}" height="${num(height)}" ${isFilled ? paint("fill", fill) : 'fill="none"'}${edge === null ? "" : ` ${paint("stroke", edge)}`}/>`, clip);
  }

  /** A border at the top alone, as keys of curves have. */
  private rule(style: CSSStyleDeclaration, thick: number, box: DOMRect, clip: Box): void {
    const y = num(box.top + thick / 2);
    const dashes = style.borderTopStyle === "dashed" ? ` stroke-dasharray="${2 * thick} ${thick}"` : "";
    this.put(new DOMRect(box.left, box.top, box.width, Math.max(box.height, thick)), `<path d="M${num(box.left)} ${y}H${num(box.right)}" ${paint("stroke", style.borderTopColor)} stroke-width="${num(thick)}"${dashes}/>`, clip);
  }

  /** A linear gradient of hard stops, from left to right, as the legend of a heat map has. */
  private ramp(style: CSSStyleDeclaration, box: DOMRect, clip: Box): void {
    if (!style.backgroundImage.startsWith("linear-gradient(90deg")) return;
    const stops = [...style.backgroundImage.matchAll(/(rgba?\([^)]*\)) ([\d.]+)%(?: ([\d.]+)%)?/g)].flatMap(([, color, from, to]) => [from, to].flatMap((at) => (at === undefined ? [] : [{ color: color!, at: Number(at) / 100 }])));
    stops.slice(1).forEach(({ at: to }, i) => {
      const { color, at: from } = stops[i]!;
      if (to > from) this.put(box, `<rect x="${num(box.left + box.width * from)}" y="${num(box.top)}" width="${num(box.width * (to - from) + 0.5)}" height="${num(box.height)}" ${paint("fill", color)}/>`, clip);
    });
  }

  private text(text: Text, style: CSSStyleDeclaration, clip: Box): void {
    const size = parseFloat(style.fontSize);
    for (const { words, box } of linesOf(text, clip.right)) {
      const middle = (box.top + box.bottom) / 2;
      if (middle < clip.top || middle > clip.bottom || box.left >= clip.right || box.right <= clip.left) continue;
      const weight = Number(style.fontWeight) >= 600 ? ' font-weight="600"' : "";
      this.put(box, `<text x="${num(box.left)}" y="${num(middle + size * 0.35)}" font-size="${num(size)}"${weight} ${paint("fill", style.color)}>${xml(words)}</text>`, clip);
    }
  }
}
