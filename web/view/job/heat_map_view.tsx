// The heat map of ranks and steps: the quantity and the order of ranks are chosen above it; a click or the arrow keys
// select a cell, which is read out below it.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { CanvasSurface } from "../../draw/canvas_surface.ts";
import { besideCells, drawHeatMap } from "../../draw/heat_map.ts";
import { jobColors } from "../../draw/heat_colors.ts";
import { css, DARK, LIGHT } from "../../draw/theme.ts";
import { columnAt, heatMap, lineOf, placeHeat, worstIn, type HeatInput, type HeatPlace } from "../../layout/heat_map.ts";
import { lineLabels, stepTicks } from "../../layout/heat_labels.ts";
import { HeatScale, materialTime, quantityText } from "../../layout/heat_scale.ts";
import { duration, plural } from "../../layout/time_text.ts";
import { whyLost, type Job, type Quantity } from "../../model/job.ts";
import { ROW_ORDERS, rowsBy, type RowOrder } from "../../model/job_order.ts";
import type { JobProps } from "../job.tsx";
import { registerPicture } from "../pictures/canvas_pictures.ts";
import { SavePicture } from "../pictures/save_picture.tsx";
import { useTheme } from "../theme_switch.tsx";
import { useAsync, useViewerState } from "../use_state.ts";
import { useWidth } from "../use_width.ts";

const LEFT = 92; // css pixels for the labels of rows
const HEIGHT = 440; // of the cells at most
const BAR = 56;
const GAP = 4;
const STRIP = 6;
const LABELS = 16;
const ORDER_NAMES: Record<RowOrder, string> = { rank: "rank", host: "host", peers: "peers (stage)", price: "price" };

export function HeatMapView(props: JobProps) {
  const { viewer, job } = props;
  const name = useViewerState(viewer, (state) => state.quantity);
  const order = useViewerState(viewer, (state) => state.rowOrder);
  const at = Math.max(0, job.quantities.findIndex((each) => each.name === name));
  const quantity = job.quantities[at];
  const { value: cells, error } = useAsync(() => viewer.recording.jobCells(at), at);
  const rows = useMemo(() => rowsBy(job, order), [job, order]);
  if (quantity === undefined) return <p class="about">No step of any rank was recorded.</p>;
  return (
    <section class="heat" aria-label="Ranks and steps">
      <SavePicture title="Ranks and steps" />
      <h2>Ranks and steps</h2>
      <div class="tools-line">
        <label>
          Quantity{" "}
          <select value={quantity.name} onChange={(event) => viewer.set({ quantity: event.currentTarget.value })}>
            {job.quantities.map((each) => (
              <option key={each.name} value={each.name}>
                {each.title}
              </option>
            ))}
          </select>
        </label>
        <label>
          Rows by{" "}
          <select value={order} onChange={(event) => viewer.set({ rowOrder: event.currentTarget.value as RowOrder })}>
            {ROW_ORDERS.map((each) => (
              <option key={each} value={each}>
                {ORDER_NAMES[each]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p class="about">{quantity.doc}</p>
      {error !== undefined && <p class="about">Cannot read the cells: {error}</p>}
      {cells !== undefined && <Cells {...props} order={order} rows={rows} quantity={quantity} cells={cells} />}
    </section>
  );
}

interface CellsProps extends JobProps {
  order: RowOrder;
  rows: Uint32Array;
  quantity: Quantity;
  cells: Float64Array;
}

interface Cell {
  place: number; // of the rank in display order
  step: number;
}

function Cells({ viewer, job, chosen, order, rows, quantity, cells }: CellsProps) {
  const [frame, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const [pointed, setPointed] = useState<(Cell & { x: number; y: number }) | null>(null);
  const scale = devicePixelRatio || 1;
  const input: HeatInput = { cells, rows, steps: job.steps.length, lowIsBad: quantity.lowIsBad };
  const beside = besideCells({ strip: STRIP, bar: BAR, gap: GAP });
  const place = placeHeat(Math.max(1, Math.floor((width - LEFT - beside) * scale)), Math.floor(HEIGHT * scale), rows.length, job.steps.length);
  const heat = useMemo(() => new HeatScale(quantity, job.stepTime), [quantity, job]);
  const selected: Cell = { place: Math.max(0, rows.indexOf(chosen.rank)), step: chosen.step };
  const [full, height] = [LEFT + (place.columns * place.cellWidth) / scale + beside, (place.lines * place.cellHeight) / scale + beside + LABELS];

  useLayoutEffect(() => {
    const target = canvas.current;
    if (target === null || width === 0) return;
    const begun = performance.now();
    target.width = Math.round(full * scale);
    target.height = Math.round(height * scale);
    const marked = new Uint8Array(place.lines);
    const unit = job.units.find(({ worst }) => worst !== null && worst[0] === chosen.rank && worst[1] === chosen.step);
    const ranks = new Set(unit?.ranks ?? []);
    rows.forEach((rank, i) => ranks.has(rank) && (marked[lineOf(i, rows.length, place)] = 1));
    const frame = {
      map: heatMap(input, place, (value) => heat.shade(value)),
      place,
      lowIsBad: quantity.lowIsBad,
      material: 2 * materialTime(quantity, job.stepTime),
      left: Math.round(LEFT * scale),
      strip: STRIP * scale,
      bar: BAR * scale,
      gap: GAP * scale,
      scale,
      labels: lineLabels(job, rows, order, place, scale),
      ticks: stepTicks(job, place, scale),
      marked,
      font: `${11 * scale}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`,
    };
    drawHeatMap(new CanvasSurface(target.getContext("2d", { alpha: false })!), frame, target, theme === "dark" ? DARK : LIGHT);
    registerPicture(target, (surface, colors) => {
      surface.pen.parts.push(`<g transform="scale(${1 / scale})">`);
      drawHeatMap(surface, frame, target, colors);
      surface.pen.parts.push("</g>");
    });
    performance.measure("heat map", { start: begun, end: performance.now() });
    if (target.dataset.complete === undefined) performance.measure("data", { start: 0, end: performance.now() });
    target.dataset.complete = "";
  }, [cells, rows, width, theme, scale, chosen.rank, chosen.step]);

  const select = ({ place: at, step }: Cell) => viewer.set({ jobRank: job.ranks[rows[at]!]!.rank, jobStep: job.steps[step]! });
  const cellAt = (event: MouseEvent): Cell | null => {
    const column = Math.floor(((event.offsetX - LEFT) * scale) / place.cellWidth);
    const line = Math.floor((event.offsetY * scale) / place.cellHeight);
    if (column < 0 || column >= place.columns || line < 0 || line >= place.lines) return null;
    return worstIn(input, place, line, column);
  };
  const point = (event: PointerEvent) => {
    const begun = performance.now();
    const cell = cellAt(event);
    setPointed(cell && { ...cell, x: event.offsetX, y: event.offsetY });
    performance.measure("hover", { start: begun, end: performance.now() });
  };
  const press = (event: KeyboardEvent) => {
    const next = moved(event, selected, rows.length, job.steps.length);
    if (next === null) return;
    event.preventDefault();
    select(next);
  };
  const describe = (cell: Cell) => cellText(job, quantity, cells, rows[cell.place]!, cell.step);
  return (
    <>
      <div class="heat-frame" ref={frame}>
        <canvas
          ref={canvas}
          style={{ width: `${full}px`, height: `${height}px` }}
          tabIndex={0}
          role="application"
          aria-roledescription="heat map"
          aria-label={`${quantity.title} of ${plural(rows.length, "rank")} in ${plural(job.steps.length, "step")}; arrow keys select a cell`}
          aria-describedby="heat-readout"
          onPointerMove={point}
          onPointerLeave={() => setPointed(null)}
          onClick={(event) => {
            const cell = cellAt(event);
            if (cell) select(cell);
          }}
          onKeyDown={press}
        />
        {width > 0 && <div class="heat-cursor" style={cursorBox(selected, rows.length, job.steps.length, place, scale)} />}
        {pointed && <CellTip lines={describe(pointed)} x={pointed.x} y={pointed.y} width={width} />}
      </div>
      <p id="heat-readout" class="readout" role="status">
        {describe(selected).join(", ")}
      </p>
      <Legend heat={heat} dark={theme === "dark"} />
      <p class="about">
        Bars next to the cells: mean of the rank, and of the step. Hatched: no value; a mark at the end of a row or column that has such a cell.
        {place.lines < rows.length && ` A line stands for ${Math.ceil(rows.length / place.lines)} ranks or fewer and shows the worst of them.`}
        {place.columns < job.steps.length && ` A column stands for ${Math.ceil(job.steps.length / place.columns)} steps or fewer and shows the worst of them.`}
      </p>
    </>
  );
}

/** The cell that a key leads to; null for other keys. */
function moved({ key, ctrlKey, metaKey, altKey }: KeyboardEvent, { place, step }: Cell, ranks: number, steps: number): Cell | null {
  if (ctrlKey || metaKey || altKey) return null;
  const page = Math.max(1, Math.round(ranks / 20));
  const ways: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-page, 0], PageDown: [page, 0], Home: [0, -steps], End: [0, steps] };
  const way = ways[key];
  if (way === undefined) return null;
  const inside = (at: number, count: number) => Math.min(Math.max(at, 0), count - 1);
  return { place: inside(place + way[0], ranks), step: inside(step + way[1], steps) };
}

function cursorBox({ place: at, step }: Cell, ranks: number, steps: number, place: HeatPlace, scale: number): Record<string, string> {
  const [x, y] = [columnAt(step, steps, place) * place.cellWidth, lineOf(at, ranks, place) * place.cellHeight];
  const px = (value: number) => `${value / scale}px`;
  return { left: `calc(${LEFT}px + ${px(x)} - 2px)`, top: `calc(${px(y)} - 2px)`, width: `calc(${px(place.cellWidth)} + 4px)`, height: `calc(${px(place.cellHeight)} + 4px)` };
}

/** Rank, place, step and value of a cell; why it has none if it is lost. */
function cellText(job: Job, quantity: Quantity, cells: Float64Array, rank: number, step: number): string[] {
  const { rank: number, host } = job.ranks[rank]!;
  const value = cells[rank * job.steps.length + step]!;
  const said = Number.isNaN(value) ? whyLost(job, rank, step) : quantityText(value, quantity);
  return [`rank ${number}${host === null ? "" : ` on ${host}`}`, `step ${job.steps[step]} (${duration(job.longest[step]!)})`, `${quantity.title.toLowerCase()}: ${said}`];
}

function CellTip({ lines, x, y, width }: { lines: string[]; x: number; y: number; width: number }) {
  const side = x > width / 2 ? { right: `${width - x + 14}px` } : { left: `${x + 14}px` };
  return (
    <div class="tooltip" style={{ ...side, top: `${y + 14}px` }}>
      <strong>{lines[0]}</strong>
      {lines.slice(1).map((line) => (
        <span key={line}>{line}</span>
      ))}
    </div>
  );
}

const LEGEND_STEPS = 24;

function Legend({ heat, dark }: { heat: HeatScale; dark: boolean }) {
  const { shades } = jobColors(dark ? DARK : LIGHT);
  const stops = Array.from({ length: LEGEND_STEPS }, (_, i) => `${css(shades[1 + Math.round((254 * i) / (LEGEND_STEPS - 1))]!)} ${(100 * i) / LEGEND_STEPS}% ${(100 * (i + 1)) / LEGEND_STEPS}%`);
  return (
    <div class="heat-legend">
      <span class="heat-ramp" style={{ backgroundImage: `linear-gradient(90deg, ${stops.join(", ")})` }} />
      {heat.ticks(5).map(({ part, text }) => (
        <small key={part} style={part === 1 ? { right: "0" } : { left: `${part * 100}%`, transform: part === 0 ? "" : "translateX(-50%)" }}>
          {text}
        </small>
      ))}
    </div>
  );
}
