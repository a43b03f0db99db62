// A copy of a chart that looks the same without the page's style sheets: styles become attributes.

import { num, xml } from "../../draw/svg_pen.ts";

/** Properties that are written out, with the values that need not be. */
const PROPERTIES: readonly [name: string, initial: readonly string[]][] = [
  ["fill", []],
  ["fill-opacity", ["1"]],
  ["stroke", ["none"]],
  ["stroke-width", ["1px", "1"]],
  ["stroke-opacity", ["1"]],
  ["stroke-dasharray", ["none"]],
  ["stroke-linejoin", ["miter"]],
  ["vector-effect", ["none"]],
  ["paint-order", ["normal"]],
  ["opacity", ["1"]],
  ["font-size", []],
  ["font-weight", ["400"]],
  ["text-anchor", ["start"]],
];

const SHAPES = new Set(["path", "rect", "line", "circle", "ellipse", "polyline", "polygon", "text", "tspan"]);

export function copyOfChart(chart: SVGSVGElement, box: DOMRect): string {
  const copy = chart.cloneNode(true) as SVGSVGElement;
  const originals = [...chart.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((element, i) => {
    const original = originals[i]!;
    element.removeAttribute("class");
    for (const name of element.getAttributeNames())
      if (/^(role|tabindex|data-|aria-)/.test(name)) element.removeAttribute(name);
    if (SHAPES.has(element.localName)) styleAs(element, getComputedStyle(original));
  });
  copy.setAttribute("x", num(box.left));
  copy.setAttribute("y", num(box.top));
  copy.setAttribute("width", num(box.width));
  copy.setAttribute("height", num(box.height));
  for (const name of ["class", "role", "aria-label", "aria-hidden", "style", "tabindex"]) copy.removeAttribute(name);
  return new XMLSerializer().serializeToString(copy).replace(/ xmlns="[^"]*"/g, "");
}

function styleAs(element: Element, style: CSSStyleDeclaration): void {
  const isText = element.localName === "text" || element.localName === "tspan";
  for (const [name, initial] of PROPERTIES) {
    if ((name.startsWith("font") || name === "text-anchor") && !isText) continue;
    const value = style.getPropertyValue(name);
    if (value === "" || initial.includes(value)) element.removeAttribute(name);
    else setColor(element, name, value);
  }
  element.removeAttribute("style");
}

/** Splits rgba() into a colour and an opacity, because older programs read only that. */
function setColor(element: Element, name: string, value: string): void {
  const [, rgb, alpha] = /^rgba\((.*), ([\d.]+)\)$/.exec(value) ?? [];
  if (rgb === undefined) return element.setAttribute(name, xml(value).replaceAll("&#34;", "'"));
  element.setAttribute(name, alpha === "0" ? "none" : `rgb(${rgb})`);
  if (alpha !== "0") element.setAttribute(`${name}-opacity`, alpha!);
}
