// A saved picture as one SVG document: a title, the recording and what is shown of it, then the drawing.
// Self-contained: no style sheets, scripts or fonts, so that it looks the same in a paper, an issue or another program.

import { num, paint, xml } from "./svg_pen.ts";
import { css, type Theme } from "./theme.ts";

export interface Drawn {
  markup: string; // SVG elements
  width: number; // css pixels
  height: number;
}

export interface Caption {
  title: string;
  recording: string;
  about: string; // range and units
}

const MARGIN = 12;
const TITLE = 16; // css pixels
const LINE = 12;
const HEAD = TITLE + LINE + 14;
export const FONTS = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/** `measure`: the width of a text in a CSS font. The file is wide enough for its title and caption. */
export function pictureFile(
  { markup, width, height }: Drawn, { title, recording, about }: Caption, theme: Theme,
  measure: (text: string, font: string) => number,
): string {
  const caption = about === "" ? recording : `${recording} · ${about}`;
  const widest = Math.max(width, measure(title, `600 ${TITLE}px ${FONTS}`), measure(caption, `${LINE}px ${FONTS}`));
  const [fullWidth, fullHeight] = [Math.ceil(widest + 2 * MARGIN), Math.ceil(height + HEAD + 2 * MARGIN)];
  const size = `width="${fullWidth}" height="${fullHeight}"`;
  const line = (y: number, size: number, weight: number, color: string, words: string) => {
    const font = `font-size="${size}" font-weight="${weight}" ${paint("fill", color)}`;
    return `<text x="${MARGIN}" y="${num(y)}" ${font}>${xml(words)}</text>`;
  };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${fullWidth} ${fullHeight}" `,
    `font-family="${xml(FONTS)}"><title>${xml(`${title}: ${recording}`)}</title><desc>${xml(about)}</desc>`,
    `<rect ${size} ${paint("fill", css(theme.ground))}/>`,
    line(MARGIN + TITLE - 3, TITLE, 600, css(theme.text), title),
    line(MARGIN + TITLE + LINE + 4, LINE, 400, css(theme.quiet), caption),
    `<g transform="translate(${MARGIN} ${MARGIN + HEAD})">${markup}</g></svg>`,
  ].join("");
}
