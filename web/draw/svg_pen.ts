// A pen that writes SVG elements, so that what is drawn on the canvas can be saved with text as text and shapes as
// shapes. Only what drawing code uses is here (pen.ts); a transform is the caller's, as a group around the result.

import type { Pen } from "./pen.ts";

const DIGITS = 2;
// Shares of the font's size, below the given y.
const BASELINES: Readonly<Record<string, number>> = { middle: 0.35, top: 0.8, alphabetic: 0 };
const ANCHORS: Readonly<Record<string, string>> = { center: "middle", right: "end", end: "end" };

const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

export const xml = (text: string): string =>
  text.replace(FORBIDDEN, "\uFFFD").replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

export const num = (value: number): string => String(Number(value.toFixed(DIGITS)));

/** Attributes of a CSS colour: older programs do not read colours with an alpha. */
export function paint(name: "fill" | "stroke", color: string): string {
  const [, r, g, b, a] = /^rgba?\(([\d.]+)[ ,]+([\d.]+)[ ,]+([\d.]+)(?:[ ,/]+([\d.]+))?\)$/.exec(color) ?? [];
  if (r === undefined) return `${name}="${xml(color)}"`;
  const hex = [r, g, b].map((part) => Math.round(Number(part)).toString(16).padStart(2, "0")).join("");
  return `${name}="#${hex}"${a === undefined || Number(a) === 1 ? "" : ` ${name}-opacity="${num(Number(a))}"`}`;
}

let ids = 0;
export const newId = (): string => `gp${ids++}`;

export class SvgPen implements Pen {
  fillStyle: Pen["fillStyle"] = "#000";
  strokeStyle: Pen["strokeStyle"] = "#000";
  lineWidth = 1;
  lineJoin: CanvasLineJoin = "miter";
  font = "11px sans-serif";
  textAlign: CanvasTextAlign = "left";
  textBaseline: CanvasTextBaseline = "alphabetic";
  readonly parts: string[] = [];
  private path: string[] = [];
  private readonly groups: number[] = []; // open groups of each saved state

  constructor(private readonly measure: (text: string, font: string) => number) {}

  get markup(): string {
    return this.parts.join("");
  }

  save(): void {
    this.groups.push(0);
  }

  restore(): void {
    for (let open = this.groups.pop() ?? 0; open > 0; open--) this.parts.push("</g>");
  }

  beginPath(): void {
    this.path = [];
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path.push(`M${num(x)} ${num(y)}h${num(width)}v${num(height)}h${num(-width)}z`);
  }

  clip(): void {
    const id = newId();
    this.parts.push(`<clipPath id="${id}"><path d="${this.path.join("")}"/></clipPath><g clip-path="url(#${id})">`);
    if (this.groups.length > 0) this.groups[this.groups.length - 1]!++;
  }

  moveTo(x: number, y: number): void {
    this.path.push(`M${num(x)} ${num(y)}`);
  }

  lineTo(x: number, y: number): void {
    this.path.push(`L${num(x)} ${num(y)}`);
  }

  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.path.push(`C${[x1, y1, x2, y2, x, y].map(num).join(" ")}`);
  }

  fill(): void {
    if (this.path.length > 0) this.parts.push(`<path d="${this.path.join("")}" ${this.filling()}/>`);
  }

  stroke(): void {
    if (this.path.length > 0) this.parts.push(`<path d="${this.path.join("")}" fill="none" ${this.line()}/>`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    if (width > 0 && height > 0) this.parts.push(`<rect ${boxOf(x, y, width, height)} ${this.filling()}/>`);
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.parts.push(`<rect ${boxOf(x, y, width, height)} fill="none" ${this.line()}/>`);
  }

  measureText(text: string): { width: number } {
    return { width: this.measure(text, this.font) };
  }

  fillText(text: string, x: number, y: number, maxWidth?: number): void {
    const size = Number(/([\d.]+)px/.exec(this.font)?.[1] ?? 11);
    const anchor = ANCHORS[this.textAlign];
    const base = y + size * (BASELINES[this.textBaseline] ?? 0);
    let attributes = `x="${num(x)}" y="${num(base)}" font-size="${num(size)}" ${this.filling()}`;
    if (anchor !== undefined) attributes += ` text-anchor="${anchor}"`;
    if (maxWidth !== undefined && this.measureText(text).width > maxWidth)
      attributes += ` textLength="${num(maxWidth)}" lengthAdjust="spacingAndGlyphs"`;
    this.parts.push(`<text ${attributes}>${xml(text)}</text>`);
  }

  private filling(): string {
    return paint("fill", String(this.fillStyle));
  }

  private line(): string {
    const join = this.lineJoin === "miter" ? "" : ` stroke-linejoin="${this.lineJoin}"`;
    return `${paint("stroke", String(this.strokeStyle))} stroke-width="${num(this.lineWidth)}"${join}`;
  }
}

export const boxOf = (x: number, y: number, width: number, height: number): string =>
  `x="${num(x)}" y="${num(y)}" width="${num(width)}" height="${num(height)}"`;
