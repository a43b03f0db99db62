// Transfers between hosts as a matrix, when links are in question. A click or the arrow keys select a pair, which is
// read out and leads to its row of the table.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { CanvasSurface } from "../../draw/canvas_surface.ts";
import { marginOf, drawHeatMap, type HeatFrame } from "../../draw/draw_heat_map.ts";
import { DARK, LIGHT } from "../../draw/theme.ts";
import { heatMap, placeHeat, worstIn, type HeatInput, type HeatPlace } from "../../layout/heat_map.ts";
import { columnLabels, nameLabels } from "../../layout/heat_labels.ts";
import { HeatScale } from "../../layout/heat_scale.ts";
import { duration, plural } from "../../layout/time_text.ts";
import { areLinksInQuestion, hostLinks, type HostLinks } from "../../model/job/host_links.ts";
import type { Quantity } from "../../model/job/job.ts";
import { numberOf, tableOf, textOf, type Report, type ReportTable } from "../../model/recording/report.ts";
import type { JobProps } from "../../model/job/job_cell.ts";
import { registerPicture } from "../pictures/canvas_pictures.ts";
import { SavePicture } from "../pictures/save_picture.tsx";
import { useTheme } from "../page/theme_switch.tsx";
import { px, useWidth } from "../parts/use_width.ts";
import { moved, type Cell } from "./heat_events.ts";
import { HeatLegend } from "./heat_legend.tsx";
import { cursorStyle, LEFT } from "./heat_picture.ts";
import { CellTip } from "./heat_tip.tsx";

const HEIGHT = 440; // css pixels, of the cells at most
const LABELS = 16;
const SLOW = 1.2; // the ratio from which the table calls a link slow
const MARGINS = { strip: 0, bar: 0, gap: 4 }; // no marks and no means

/** Ratios on the scale of the heat map: from that of equal transfers to the worst. */
const ratioOf = (links: HostLinks): Quantity => {
  const most = links.ratios.reduce((worst, ratio) => (ratio > worst ? ratio : worst), 2 * SLOW - 1);
  const texts = { name: "ratio", title: "Ratio", doc: "", unit: "×" };
  const scale = { quantum: 0.01, lowIsBad: false, compares: false, least: 1, low: 1, middle: SLOW, high: most, most };
  return { ...texts, ...scale };
};

export function LinksView(props: JobProps & { report: Report }) {
  const table = tableOf(props.report, "links");
  if (table === null || !areLinksInQuestion(props.job, table)) return null;
  return <Links {...props} table={table} />;
}

function Links({ viewer, job, table }: JobProps & { table: ReportTable }) {
  const [frame, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const links = useMemo(() => hostLinks(job, table), [job, table]);
  const picture = useMemo(() => pictureOf(links, width), [links, width, devicePixelRatio]);
  const [chosen, setChosen] = useState<Cell>(() => worstPair(links));
  const [pointed, setPointed] = useState<(Cell & { x: number; y: number }) | null>(null);
  useLayoutEffect(() => {
    if (canvas.current !== null && width > 0) draw(canvas.current, picture, theme === "dark");
  }, [picture, theme]);

  const { input, place, heat, frame: drawn, size } = picture;
  const cellAt = ({ offsetX, offsetY }: MouseEvent): Cell | null => {
    const column = Math.floor(((offsetX - LEFT) * drawn.scale) / place.cellWidth);
    const line = Math.floor((offsetY * drawn.scale) / place.cellHeight);
    const isInside = column >= 0 && column < place.columns && line >= 0 && line < place.lines;
    return isInside ? worstIn(input, place, line, column) : null;
  };
  const cursor = cursorStyle(chosen.place, chosen.step, { input, place, scale: drawn.scale });
  const row = links.rows[chosen.place * links.hosts.length + chosen.step]!;
  return (
    <section class="links" aria-label="Transfers between hosts">
      <SavePicture title="Transfers between hosts" />
      <h2>Transfers between hosts</h2>
      <p class="about">
        How long transfers take next to equal ones elsewhere: for each pair of hosts, the slowest group that connects
        them. A group of many hosts shows in each of their pairs. Hatched: no transfer.
        {links.unread > 0 &&
          ` ${plural(links.unread, "group")} of unknown ranks or beyond the rows of this page: see the table links.`}
      </p>
      <div class="heat-frame" ref={frame}>
        <canvas
          ref={canvas}
          style={{ width: px(size.width / drawn.scale), height: px(size.height / drawn.scale) }}
          tabIndex={0}
          role="application"
          aria-roledescription="matrix"
          aria-label={`Transfers between ${plural(links.hosts.length, "host")}; arrow keys select a pair`}
          aria-describedby="links-readout"
          onPointerMove={(event) => {
            const cell = cellAt(event);
            setPointed(cell && { ...cell, x: event.offsetX, y: event.offsetY });
          }}
          onPointerLeave={() => setPointed(null)}
          onClick={(event) => setChosen(cellAt(event) ?? chosen)}
          onKeyDown={(event) => {
            const next = moved(event, chosen, links.hosts.length, links.hosts.length);
            if (next === null) return;
            setChosen(next);
            event.preventDefault();
            event.stopPropagation();
          }}
        />
        {width > 0 && <div class="heat-cursor" style={cursor} />}
        {pointed && <CellTip lines={pairText(links, table, pointed)} x={pointed.x} y={pointed.y} width={width} />}
      </div>
      <p id="links-readout" class="readout" role="status">{pairText(links, table, chosen).join(", ")}</p>
      {row >= 0 && <button onClick={() => viewer.openTable("links", row)}>Show the group in the table</button>}
      <HeatLegend heat={heat} dark={theme === "dark"} />
    </section>
  );
}

interface LinksPicture {
  input: HeatInput;
  place: HeatPlace;
  heat: HeatScale;
  frame: HeatFrame;
  size: { width: number; height: number }; // device pixels
}

function pictureOf(links: HostLinks, room: number): LinksPicture {
  const scale = devicePixelRatio || 1;
  const count = links.hosts.length;
  const margin = marginOf(MARGINS);
  const width = Math.max(1, Math.floor((room - LEFT - margin) * scale));
  const place = placeHeat(width, Math.floor(HEIGHT * scale), count, count);
  const rows = Uint32Array.from({ length: count }, (_, i) => i);
  const input: HeatInput = { cells: links.ratios, stride: count, rows, first: 0, steps: count, lowIsBad: false };
  const heat = new HeatScale(ratioOf(links), 0);
  const short = links.hosts.map((name) => (name.length > 7 ? `…${name.slice(-6)}` : name));
  const frame: HeatFrame = {
    place,
    lowIsBad: false,
    material: 0,
    ...{ left: Math.round(LEFT * scale), strip: 0, bar: 0, gap: MARGINS.gap * scale, scale },
    map: heatMap(input, place, (value) => heat.shade(value)),
    labels: nameLabels(links.hosts, place, scale),
    ticks: columnLabels(short, place, scale),
    marked: new Uint8Array(place.lines),
    font: `${11 * scale}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`,
  };
  const size = {
    width: Math.round(frame.left + place.columns * place.cellWidth + margin * scale),
    height: Math.round(place.lines * place.cellHeight + (margin + LABELS) * scale),
  };
  return { input, place, heat, frame, size };
}

function draw(target: HTMLCanvasElement, { frame, size }: LinksPicture, dark: boolean): void {
  [target.width, target.height] = [size.width, size.height];
  drawHeatMap(new CanvasSurface(target.getContext("2d", { alpha: false })!), frame, size, dark ? DARK : LIGHT);
  registerPicture(target, (surface, colors) => {
    surface.pen.parts.push(`<g transform="scale(${1 / frame.scale})">`);
    drawHeatMap(surface, frame, size, colors);
    surface.pen.parts.push("</g>");
  });
  target.dataset.complete = "";
}

function worstPair({ hosts, ratios }: HostLinks): Cell {
  const isWorse = (ratio: number, found: number) => ratio > (ratios[found] ?? -1) || Number.isNaN(ratios[found]);
  const worst = ratios.reduce((found, ratio, cell) => (isWorse(ratio, found) ? cell : found), 0);
  return { place: Math.floor(worst / hosts.length), step: worst % hosts.length };
}

function pairText({ hosts, ratios, rows }: HostLinks, table: ReportTable, { place, step }: Cell): string[] {
  const cell = place * hosts.length + step;
  const pair = place === step ? `within ${hosts[place]}` : `${hosts[place]} and ${hosts[step]}`;
  const row = rows[cell]!;
  if (row < 0) return [pair, "no transfer"];
  const time = numberOf(table, row, "transfer_ns");
  const average = time === null ? "" : `: ${duration(Math.round(time))} on average`;
  const group = `${textOf(table, row, "group") ?? "group"} of ranks ${textOf(table, row, "ranks")}${average}`;
  return [pair, `${ratios[cell]!.toFixed(2)} × the time of equal transfers`, group];
}
