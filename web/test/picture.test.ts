// Saved pictures without a browser: a frame of the timeline as SVG, from the display list alone.

import assert from "node:assert/strict";
import test from "node:test";
import { pictureFile } from "../draw/picture.ts";
import { drawScene } from "../draw/draw_scene.ts";
import { paint, SvgPen } from "../draw/svg_pen.ts";
import { SvgSurface } from "../draw/svg_surface.ts";
import { css, DARK, LIGHT } from "../draw/theme.ts";
import { causeOf, EDGE, WORK } from "../layout/colors.ts";
import type { Area, Scene, Strips } from "../layout/display.ts";

const measure = (text: string) => text.length * 6;

const strips = (codes: number[][], shades: number[][]): Strips => ({
  pixels: codes[0]?.length ?? 0,
  tops: codes.map((_, row) => 60 + 20 * row),
  heights: codes.map(() => 17),
  codes: Uint8Array.from(codes.flat()),
  shades: Uint8Array.from(shades.flat()),
});

function sceneWith(change: Partial<Area>): Scene {
  const lists = { labels: [], hatches: [], plots: [], separators: [], selected: [], marks: [] };
  const area: Area = { top: 52, height: 100, strips: strips([], []), critical: strips([], []), ...lists, ...change };
  const ruler = { top: 26, height: 26, base: null, ticks: [] };
  const minimap = { top: 0, height: 26, busy: null, from: 0, to: 8 };
  const nothing = { range: null, kept: [], answer: [], cursor: null, arrows: [], links: [] };
  return { width: 8, height: 152, scale: 2, ruler, minimap, areas: [area], ...nothing };
}

function drawn(change: Partial<Area>, theme = LIGHT): string {
  const surface = new SvgSurface(measure);
  drawScene(surface, sceneWith(change), theme);
  return surface.pen.markup;
}

test("equal pixels of a row are one rectangle, in the colour of the canvas and as high as their share", () => {
  const codes = [WORK, WORK, WORK, 0, WORK | EDGE, WORK, WORK, WORK];
  const markup = drawn({ strips: strips([codes], [[255, 255, 255, 0, 255, 255, 255, 51]]) });
  const found = [...markup.matchAll(/<path d="([^"]*)" (fill="#\w+") shape-rendering="crispEdges"\/>/g)];
  const rows = found.map(([, path, fill]) => [path, fill]);
  assert.deepEqual(rows, [
    ["M0 60h3v17h-3zM5 60h2v17h-2zM7 74.17h1v2.83h-1z", paint("fill", css(LIGHT.fills[WORK]!))],
    ["M4 60h1v17h-1z", paint("fill", css(LIGHT.edges[WORK]!))],
  ]);
});

test("text stays text and cannot become markup", () => {
  const markup = drawn({ labels: [{ x: 3, y: 70, text: 'f<int>("&")\u0001', code: 1 }] });
  const text = /<text x="3" y="73.85" font-size="11" fill="#14161c">f&#60;int&#62;\(&#34;&#38;&#34;\)\uFFFD<\/text>/;
  assert.match(markup, text);
});

test("a text on a curve has the ground below it", () => {
  const markup = drawn({ labels: [{ x: 3, y: 70, text: "peak 2 GB", code: 0, plate: 50 }] });
  const [plate, text] = [markup.indexOf('<rect x="1" y="64" width="54" height="12"'), markup.indexOf(">peak 2 GB<")];
  assert.ok(plate >= 0 && plate < text, markup);
});

test("causes have patterns, the unknown cause none", () => {
  const hatch = (name: string) => drawn({ hatches: [{ x: 0, y: 60, width: 8, height: 17, code: causeOf(name).code }] });
  assert.match(hatch("launch"), /<pattern id="(\w+)".*fill="url\(#\1\)"/);
  assert.doesNotMatch(hatch("unknown"), /<pattern/);
});

test("counters are an area, a band and a line, with holes where the value is unknown", () => {
  const nan = Number.NaN;
  const plot = {
    top: 60, height: 40, low: Float32Array.of(90, 90, nan, 80), mean: Float32Array.of(85, 85, nan, 75),
    high: Float32Array.of(70, 65, nan, 70), band: true, axis: [{ y: 62, text: "100 W" }, { y: 98, text: "0 W" }],
  };
  const found = drawn({ plots: [plot] }).matchAll(/<path d="(M[^"]*)" (fill="#[^"]*" fill-opacity|fill="none")/g);
  const paths = [...found].map(([, path]) => path);
  assert.deepEqual(paths, [
    "M0 85H4V98H0z", "M0 70H2V65H4V90H0z", "M0 85H4", "M6 75H8V98H6z", "M6 70H8V80H6z", "M6 75H8",
  ]);
});

test("groups are balanced, and what is clipped stays clipped", () => {
  const markup = drawn({ separators: [80] }, DARK);
  assert.equal(markup.match(/<g /g)!.length, markup.match(/<\/g>/g)!.length);
  const [, id] = /<clipPath id="(\w+)"><path d="M0 52h8v100h-8z"\/>/.exec(markup)!;
  assert.ok(markup.includes(`<g clip-path="url(#${id})">`));
});

test("a long text in little room is squeezed, as on the canvas", () => {
  const pen = new SvgPen(measure);
  pen.textAlign = "right";
  pen.fillText("rank 1023", 90, 10, 30);
  pen.fillText("rank", 90, 10, 30);
  assert.deepEqual(pen.parts.map((part) => /textLength="30"/.test(part)), [true, false]);
  assert.ok(pen.parts.every((part) => part.includes('text-anchor="end"')));
});

test("a saved picture names itself, the recording and the range", () => {
  const caption = { title: "A <b>", recording: "run.json", about: "0 to 1 ms" };
  const file = pictureFile({ markup: "<g/>", width: 100.4, height: 50 }, caption, LIGHT, () => 60);
  assert.match(file, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="125" height="116" viewBox="0 0 125 116"/);
  assert.match(file, /<title>A &#60;b&#62;: run.json<\/title><desc>0 to 1 ms<\/desc>/);
  assert.match(file, />run.json · 0 to 1 ms<\/text>/);
  const drawing = { markup: "<g/>", width: 20, height: 50 };
  const narrow = pictureFile(drawing, { ...caption, title: "A" }, LIGHT, (text) => 10 * text.length);
  assert.match(narrow, /width="224"/, "the caption fits");
});
