// One step as bars over ranks: input, own compute, waiting, transfer, with the critical path drawn through them. A file
// has the longest steps and the median one; other steps are named as missing.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { jobColors } from "../../draw/heat_colors.ts";
import { css, DARK, LIGHT } from "../../draw/theme.ts";
import { drawWaterfall } from "../../draw/draw_waterfall.ts";
import { barAt, criticalTime, heightOf, placeWaterfall, type Waterfall } from "../../layout/waterfall.ts";
import { duration, plural } from "../../layout/time_text.ts";
import type { Job } from "../../model/job/job.ts";
import { selectCell, type JobProps } from "../../model/job/job_cell.ts";
import { rowsBy } from "../../model/job/job_order.ts";
import type { StepBar, StepPicture } from "../../model/job/step_bars.ts";
import { registerPicture } from "../pictures/canvas_pictures.ts";
import { SavePicture } from "../pictures/save_picture.tsx";
import { useTheme } from "../page/theme_switch.tsx";
import { useAsync, useViewerState } from "../parts/use_state.ts";
import { px, useWidth } from "../parts/use_width.ts";
import { CellTip } from "./heat_tip.tsx";
import { unbroken } from "../parts/unbroken.tsx";

const LEFT = 92; // css pixels, as the heat map
const PART_NAMES: Record<string, string> = {
  input: "idle, waiting for input", host: "idle, host", unknown: "idle, cause unknown",
  copy: "copies", compute: "own compute", wait: "waiting for other ranks", transfer: "transfer",
};
const LEGEND = ["compute", "copy", "input", "host", "unknown", "wait", "transfer"];

const nameOf = (part: string): string => PART_NAMES[part] ?? part;

export function WaterfallView(props: JobProps) {
  const { viewer, job, chosen } = props;
  const { value: picture, error } = useAsync(() => viewer.recording.jobStep(chosen.step), chosen.step);
  const available = [...(viewer.recording.manifest.job?.steps.keys() ?? [])];
  const has = available.includes(chosen.step);
  const show = (step: number) => selectCell(viewer, job, chosen.rank, step);
  return (
    <section class="waterfall" aria-label="One step">
      <SavePicture title={`Step ${job.steps[chosen.step]} over ranks`} />
      <h2>Step {job.steps[chosen.step]} over ranks</h2>
      <div class="tools-line">
        <label>
          Step{" "}
          <select value={has ? String(chosen.step) : ""} onChange={(event) => show(Number(event.currentTarget.value))}>
            {!has && <option value="">{job.steps[chosen.step]}</option>}
            {available.map((step) => (
              <option key={step} value={String(step)}>{job.steps[step]} ({duration(job.longest[step]!)})</option>
            ))}
          </select>
        </label>
      </div>
      {error !== undefined && <p class="about">Cannot read this step: {error}</p>}
      {picture === null && (
        <p class="about missing-step">
          Step {job.steps[chosen.step]} is not in this file, which has the bars of the longest steps and of the median
          one. gpu-profile view shows every step.
        </p>
      )}
      {picture && <Bars {...props} picture={picture} />}
    </section>
  );
}

function Bars({ viewer, job, chosen, picture }: JobProps & { picture: StepPicture }) {
  const [frame, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const order = useViewerState(viewer, (state) => state.job.order);
  const [pointed, setPointed] = useState<{ x: number; y: number; lines: string[] } | null>(null);
  const scale = devicePixelRatio || 1;
  const fall = useMemo(() => {
    const places = new Uint32Array(job.ranks.length);
    rowsBy(job, order).forEach((rank, place) => (places[rank] = place));
    return placeWaterfall(picture, places, width, LEFT);
  }, [job, order, picture, width]);

  useLayoutEffect(() => {
    const target = canvas.current;
    if (target === null || width === 0) return;
    target.width = Math.round(width * scale);
    target.height = Math.round(fall.height * scale);
    const labelOf = (rank: number) => `rank ${job.ranks[rank]!.rank}`;
    const frame = { fall, parts: job.parts, labelOf, chosen: chosen.rank };
    const context = target.getContext("2d", { alpha: false })!;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    drawWaterfall(context, frame, theme === "dark" ? DARK : LIGHT);
    registerPicture(target, (surface, colors) => drawWaterfall(surface.pen, frame, colors));
    target.dataset.complete = "";
  }, [fall, width, theme, scale, chosen.rank]);

  const select = (bar: StepBar | undefined) => bar && selectCell(viewer, job, bar.rank, chosen.step);
  const at = (event: MouseEvent) => barAt(fall, event.offsetX, event.offsetY);
  const line = fall.lineOf.get(chosen.rank);
  const press = (event: KeyboardEvent) => {
    const [up, down] = [(line ?? 0) - 1, (line ?? -1) + 1];
    const ways: Record<string, number> = { ArrowUp: up, ArrowDown: down, Home: 0, End: fall.bars.length - 1 };
    const to = ways[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    select(fall.bars[to]);
  };
  const own = line === undefined ? undefined : fall.bars[line];
  const missing = `Rank ${job.ranks[chosen.rank]!.rank} has no bar:`;
  return (
    <>
      <div class="waterfall-frame" ref={frame}>
        <canvas
          ref={canvas}
          style={{ width: `${width}px`, height: `${fall.height}px` }}
          tabIndex={0}
          role="application"
          aria-roledescription="waterfall"
          aria-label={`Step ${job.steps[chosen.step]} of ${plural(fall.bars.length, "rank")}; arrow keys select a rank`}
          aria-describedby="bar-readout"
          onPointerMove={(event) => {
            const found = at(event);
            setPointed(found && { x: event.offsetX, y: event.offsetY, lines: tipLines(job, fall, found) });
          }}
          onPointerLeave={() => setPointed(null)}
          onClick={(event) => select(at(event)?.bar)}
          onKeyDown={press}
        />
        {pointed && <CellTip {...pointed} width={width} />}
      </div>
      <p id="bar-readout" class="readout" role="status">
        {own ? unbroken(barText(job, picture, own))
          : `${missing} ${fall.bars.length} of ${job.ranks.length} ranks are shown.`}
      </p>
      <Legend dark={theme === "dark"} />
      <p class="about">{choiceText(job, picture)}</p>
    </>
  );
}

function tipLines(job: Job, { picture }: Waterfall, { bar, span }: { bar: StepBar; span: number }): string[] {
  const lines = [`rank ${job.ranks[bar.rank]!.rank}`];
  const spanTime = (bar.starts[span + 1] ?? bar.end) - bar.starts[span]!;
  if (span >= 0) lines.push(`${nameOf(job.parts[bar.parts[span]!]!)}: ${duration(spanTime)}`);
  lines.push(`bar of ${duration(bar.end - bar.start)}`, clockText(bar));
  const critical = criticalTime(picture, bar.rank);
  if (critical > 0) lines.push(`critical for ${duration(critical)}`);
  return lines;
}

function clockText({ clockError }: StepBar): string {
  if (clockError === null) return "its clock could not be aligned: it stands at the usual start";
  return `error of its clock: ${duration(Math.round(clockError))}`;
}

function barText(job: Job, picture: StepPicture, bar: StepBar): string {
  const sums = job.parts.flatMap((part, i) => (bar.sums[i] ? [`${nameOf(part)} ${duration(bar.sums[i]!)}`] : []));
  const critical = criticalTime(picture, bar.rank);
  if (critical > 0) sums.push(`critical for ${duration(critical)}`);
  return `Rank ${job.ranks[bar.rank]!.rank}: ${[...sums, clockText(bar)].join(", ")}.`;
}

const REASONS: Record<string, string> = {
  straggler: "of stragglers", "critical path": "on the critical path",
  group: "in a group with a straggler", quantile: "evenly spaced by own time among the rest",
};

/** Which ranks are shown, and how far their clocks may be off. */
function choiceText(job: Job, { bars }: StepPicture): string {
  const counts = new Map<string, number>();
  for (const { why } of bars) counts.set(why, (counts.get(why) ?? 0) + 1);
  const chosen = [...counts].filter(([why]) => why !== "all").map(([why, count]) => `${count} ${REASONS[why] ?? why}`);
  const some = `${bars.length} of ${plural(job.ranks.length, "rank")}: ${chosen.join(", ")}.`;
  const texts = [chosen.length === 0 ? `All ${plural(bars.length, "rank")} that recorded the step.` : some];
  const errors = bars.flatMap(({ clockError }) => (clockError === null ? [] : [clockError]));
  if (errors.length > 0) {
    const most = duration(Math.round(errors.reduce((a, b) => Math.max(a, b))));
    const drawn = "drawn at the start of a bar where it is wider than a pixel";
    texts.push(`Clocks are aligned with an error of at most ${most}, ${drawn}.`);
  }
  const placed = bars.length - errors.length;
  if (placed > 0) texts.push(`${plural(placed, "bar")} marked with ? could not be aligned.`);
  return [...texts, "Between two collectives only the sums of the parts are known, not their order."].join(" ");
}

function Legend({ dark }: { dark: boolean }) {
  const { parts } = jobColors(dark ? DARK : LIGHT);
  const styleOf = (part: string) =>
    ({ height: px(Math.round(12 * heightOf(part))), background: css(parts.get(part)!) });
  return (
    <p class="keys">
      {LEGEND.map((part) => (
        <span key={part}>
          <span class="part-key" style={styleOf(part)} /> {nameOf(part)}
        </span>
      ))}
      <span>
        <span class="part-key critical" /> critical path
      </span>
    </p>
  );
}
