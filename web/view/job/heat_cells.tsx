// The cells of the heat map: the shown part of them as a picture, the selected and the pointed one as text, and a
// legend.

import { useLayoutEffect, useRef } from "preact/hooks";
import { DARK, LIGHT } from "../../draw/theme.ts";
import { plural } from "../../layout/time_text.ts";
import { contains, zoomedHeat } from "../../model/job/heat_window.ts";
import { useTheme } from "../page/theme_switch.tsx";
import { px, useWidth } from "../parts/use_width.ts";
import { useHeatEvents, type Box, type Cell } from "./heat_events.ts";
import { anchorOf } from "./heat_gestures.ts";
import { HeatLegend } from "./heat_legend.tsx";
import { cursorStyle, drawPicture, LEFT, useHeatLayout, type HeatLayout, type HeatProps } from "./heat_picture.ts";
import { CellTip, cellText } from "./heat_tip.tsx";
import { HeatZoom } from "./heat_zoom.tsx";

export function HeatCells(props: HeatProps) {
  const { job, chosen, order, rows, quantity, cells } = props;
  const [frame, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const layout = useHeatLayout(props, width);
  const { window, whole, map, scale } = layout;
  const selected: Cell = { place: Math.max(0, rows.indexOf(chosen.rank)), step: chosen.step };
  const { pointed, box, handlers, show } = useHeatEvents(props, layout, canvas, selected);

  useLayoutEffect(() => {
    if (canvas.current !== null && width > 0)
      drawPicture(canvas.current, layout, props, theme === "dark" ? DARK : LIGHT);
  }, [map, width, theme, scale, chosen.rank, chosen.step]);

  const describe = (cell: Cell) => cellText(job, quantity, cells, rows[cell.place]!, cell.step);
  const isShown = contains(window.ranks, selected.place) && contains(window.steps, selected.step);
  const [row, column] = [selected.place - window.ranks.from, selected.step - window.steps.from];
  const about = `${quantity.title} of ${plural(rows.length, "rank")} in ${plural(job.steps.length, "step")}`;
  const zoom = (factor: number) => show(zoomedHeat(window, whole, factor, anchorOf(window, selected)), true);
  return (
    <>
      <HeatZoom job={job} window={window} whole={whole} order={order} onZoom={zoom} onWhole={() => show(whole, true)} />
      <div class="heat-frame" ref={frame}>
        <canvas
          ref={canvas}
          style={{ width: px(layout.width), height: px(layout.height) }}
          tabIndex={0}
          role="application"
          aria-roledescription="heat map"
          aria-label={`${about}; arrow keys select a cell, + and - zoom`}
          aria-describedby="heat-readout"
          {...handlers}
        />
        {width > 0 && isShown && <div class="heat-cursor" style={cursorStyle(row, column, layout)} />}
        {box && <div class="heat-box" style={boxStyle(box)} />}
        {pointed && <CellTip lines={describe(pointed)} x={pointed.x} y={pointed.y} width={width} />}
      </div>
      <p id="heat-readout" class="readout" role="status">
        {describe(selected).join(", ")}
        {!isShown && " (outside the part shown)"}
      </p>
      <HeatLegend heat={layout.heat} dark={theme === "dark"} />
      <Explanation layout={layout} />
    </>
  );
}

function Explanation({ layout: { input, place } }: { layout: HeatLayout }) {
  const ranks = Math.ceil(input.rows.length / place.lines);
  const steps = Math.ceil(input.steps / place.columns);
  return (
    <p class="about">
      Bars next to the cells: mean of the rank, and of the step, over the cells shown. Hatched: no value; a mark at the
      end of a row or column that has such a cell.
      {place.lines < input.rows.length && ` A line stands for ${ranks} ranks or fewer and shows the worst of them.`}
      {place.columns < input.steps && ` A column stands for ${steps} steps or fewer and shows the worst of them.`}
    </p>
  );
}

function boxStyle({ from, to }: Box): Record<string, string> {
  const [left, top] = [px(LEFT + Math.min(from.x, to.x)), px(Math.min(from.y, to.y))];
  return { left, top, width: px(Math.abs(to.x - from.x)), height: px(Math.abs(to.y - from.y)) };
}
