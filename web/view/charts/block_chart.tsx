// Blocks of each device's memory over time, and who holds them at the cursor: from `memory_trace`, with the peak, what
// has grown (`growth`), what is reserved, and how much of that is in pieces (`fragmentation`). A file that cannot match
// releases has its categories instead of blocks.

import { useEffect, useMemo, useState } from "preact/hooks";
import { blockPicture, layerAt, outline, type BlockLayer } from "../../layout/block_picture.ts";
import { pct } from "../../layout/cell_text.ts";
import { FIRST_HUE, hueOf, WORK } from "../../layout/colors.ts";
import { amount, grouped, moment, plural } from "../../layout/time_text.ts";
import { linearTicks } from "../../layout/value_ticks.ts";
import { pointsOf, type Point } from "../../model/recording/counter_points.ts";
import {
  heldAt, holdersAt, peakOf, readBlocks, siteKey, type Block, type DeviceBlocks, type Holder,
} from "../../model/recording/memory_blocks.ts";
import { numberOf, tableOf, textOf, type Report } from "../../model/recording/report.ts";
import { reportedPart } from "../../model/table/row_navigation.ts";
import type { Range } from "../../model/recording/range.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { useAsync } from "../parts/use_state.ts";
import { useFill } from "../parts/use_fill.ts";
import { axisOf, Chart, timeAxis } from "./chart.tsx";
import { ChartSection } from "./chart_section.tsx";

const TITLE = "Memory blocks over time";
const HEIGHT = 240;
const COLUMNS = 700; // at most
const SHOWN = 250; // blocks with an area of their own
const HOLDERS = 6; // in the list

interface Props {
  viewer: Viewer;
  report: Report;
}

/** Nothing if no allocation was recorded: the chart of the memory over time says what was. */
export function MemoryBlocks({ viewer, report }: Props) {
  const table = tableOf(report, "memory_trace");
  const load = async () => (table === null ? [] : readBlocks(viewer.recording, table));
  const { value: devices, error } = useAsync(load, report);
  if (table === null || table.rows.length === 0) return null;
  const isMatched = devices?.every((each) => each.isMatched) ?? true;
  const about = isMatched
    ? "A band is a block, as long as it was allocated and as high as it is large. Blocks of one stack share a colour."
    : `${table.notes[0] ?? ""} A band is what one category holds.`;
  return (
    <ChartSection
      id="memory-blocks" title={TITLE} about={error ?? (devices === undefined ? "Reading allocations…" : about)}
      hint="Point at a time to see who holds memory then; a click or the arrow keys keep it."
    >
      {devices?.map((memory) => (
        <div key={memory.device}>
          {devices.length > 1 && <h3>GPU {memory.device}</h3>}
          <DeviceMemory viewer={viewer} report={report} memory={memory} />
        </div>
      ))}
    </ChartSection>
  );
}

/** What `growth` says of a device: sites that hold more at the second moment. */
function growthOf(report: Report, device: number | null) {
  const table = tableOf(report, "growth");
  const rows = table?.rows.map((_, row) => row).filter((row) => numberOf(table, row, "device") === device) ?? [];
  const moments = rows.length === 0 ? null : ["from_ns", "to_ns"].map((name) => numberOf(table!, rows[0]!, name));
  const grown = rows.filter((row) => (numberOf(table!, row, "grown_bytes") ?? 0) > 0);
  const [owner, category, stack] = ["owner", "category", "stack"].map((name) => (row: number) =>
    textOf(table!, row, name));
  const sites = new Set(grown.map((row) =>
    siteKey({ owner: owner!(row), category: category!(row), stack: stack!(row) })));
  const bytes = grown.reduce((sum, row) => sum + numberOf(table!, row, "grown_bytes")!, 0);
  const [from, to] = moments ?? [];
  return from == null || to == null || sites.size === 0 ? null : { sites, bytes, from, to };
}

type Growth = NonNullable<ReturnType<typeof growthOf>>;

const isGrown = ({ from, to, ...site }: Block, growth: Growth | null): boolean =>
  growth !== null && from > growth.from && from <= growth.to && to > growth.to && growth.sites.has(siteKey(site));

/** The counter of reserved memory, if the framework's allocator reports it. */
function useReserved(viewer: Viewer, device: number | null): Point[] {
  const { lanes, tracks } = viewer.recording.manifest;
  const lane = lanes.find((each) => each.label === "memory reserved" && tracks[each.track]!.device === device);
  const part = reportedPart(viewer.recording);
  const load = async () => (lane && device !== null ? pointsOf(viewer.recording, lane, part, COLUMNS) : []);
  return useAsync(load, viewer).value ?? [];
}

type DeviceProps = { viewer: Viewer; report: Report; memory: DeviceBlocks };

function DeviceMemory({ viewer, report, memory }: DeviceProps) {
  const peak = useMemo(() => peakOf(memory), [memory]);
  const growth = useMemo(() => growthOf(report, memory.device), [report, memory]);
  const reserved = useReserved(viewer, memory.device);
  const [kept, setKept] = useState(peak.at); // ns
  const [pointed, setPointed] = useState<{ time: number; layer: BlockLayer | null } | null>(null);
  useEffect(() => setKept(peak.at), [peak]);
  const view = reportedPart(viewer.recording);
  const top = reserved.reduce((most, { high }) => Math.max(most, high), peak.bytes) || 1;
  const y = (bytes: number) => HEIGHT - (bytes / top) * (HEIGHT - 22);
  const time = pointed?.time ?? kept;
  const fill = useFill();
  const hasSmaller = memory.isMatched && memory.blocks.length > SHOWN;
  const isTimed = viewer.recording.manifest.lanes.length > 0;
  const plotProps = { memory, view, y, top, peak, growth, reserved, cursor: time };
  return (
    <>
      <p class="keys">
        <span>{moment(time, (view.to - view.from) / 1000)}: {amount(heldAt(memory, time), "bytes")} held</span>
        {pointed?.layer && <span>{textOfLayer(pointed.layer, view)}</span>}
      </p>
      <Chart
        label={`${TITLE}: at most ${amount(peak.bytes, "bytes")}`} height={HEIGHT}
        axes={(width) => ({ x: timeAxis(view, width), y: axisOf("memory", linearTicks(top, "bytes", 4), y) })}
      >
        {(width) => <Plot {...plotProps} width={width} onPoint={setPointed} onKeep={setKept} />}
      </Chart>
      <Holders viewer={viewer} memory={memory} time={time} />
      <p class="about">
        {growth && (
          <>
            {memory.isMatched && <span class="key-box grown" />} grew by {amount(growth.bytes, "bytes")} between the
            dotted lines, {moment(growth.from, (view.to - view.from) / 1000)} and{" "}
            {moment(growth.to, (view.to - view.from) / 1000)}{" "}
            (<button class="handle" onClick={() => viewer.openTable("growth")}>growth</button>).{" "}
          </>
        )}
        {hasSmaller && (
          <><span class="key-box rest" style={{ background: fill(WORK) }} /> smaller blocks, no recorded allocation. </>
        )}
        {reserved.length > 0 && <><span class="key dashed" /> reserved by the allocator. </>}
        <button class="handle" onClick={() => viewer.openTable("memory_trace")}>All allocations</button>{" "}
        {isTimed && (
          <button
            class="handle" data-unsaved
            onClick={() => viewer.goTo({ from: time - viewer.length / 100, to: time + viewer.length / 100 })}
          >
            Show {moment(time, (view.to - view.from) / 1000)} on the timeline
          </button>
        )}
      </p>
      <Fragmentation viewer={viewer} report={report} device={memory.device} />
    </>
  );
}

function textOfLayer({ block, name }: BlockLayer, view: Range): string {
  if (block === null) return name;
  const step = (view.to - view.from) / 1000;
  const since = block.from === -Infinity ? "since before the recording" : `allocated at ${moment(block.from, step)}`;
  const until = block.to === Infinity ? "not released" : `released at ${moment(block.to, step)}`;
  return `${amount(block.bytes, "bytes")} of ${block.owner ?? "an unknown owner"}, ${since}, ${until}`;
}

interface PlotProps {
  memory: DeviceBlocks;
  view: Range;
  y: (bytes: number) => number;
  top: number;
  peak: { at: number; bytes: number };
  growth: Growth | null;
  reserved: readonly Point[];
  cursor: number;
  width: number;
  onPoint: (pointed: { time: number; layer: BlockLayer | null } | null) => void;
  onKeep: (time: number) => void;
}

function Plot({ memory, view, y, top, peak, growth, reserved, cursor, width, onPoint, onKeep }: PlotProps) {
  const fill = useFill();
  const columns = Math.max(1, Math.min(COLUMNS, Math.floor(width)));
  const picture = useMemo(
    () => blockPicture(memory, view, columns, SHOWN), [memory, view.from, view.to, columns],
  );
  const scale = width / columns;
  const x = (at: number) => ((Math.min(Math.max(at, view.from), view.to) - view.from) / (view.to - view.from)) * width;
  const paths = useMemo(
    () => picture.layers.map((layer) => outline(layer, (column) => column * scale, y)), [picture, scale, top],
  );
  const at = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const column = Math.min(columns - 1, Math.max(0, Math.floor((event.clientX - box.left) / scale)));
    const bytes = ((HEIGHT - (event.clientY - box.top)) / (HEIGHT - 22)) * top;
    return { time: picture.moments[column]!, layer: layerAt(picture, column, bytes) };
  };
  const move = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const now = picture.moments.findLastIndex((each) => each <= cursor);
    onKeep(picture.moments[Math.min(columns - 1, Math.max(0, now + by))]!);
  };
  const said = `Time at the cursor, ${amount(heldAt(memory, cursor), "bytes")} held`;
  const label = `peak ${amount(peak.bytes, "bytes")}`;
  return (
    <g
      class="bar blocks" tabIndex={0} role="slider" aria-label={said} aria-valuenow={cursor} aria-valuemin={view.from}
      aria-valuemax={view.to} aria-valuetext={said} onKeyDown={move} onClick={(event) => onKeep(at(event).time)}
      onPointerMove={(event) => onPoint(at(event))} onPointerLeave={() => onPoint(null)}
    >
      <rect width={width} height={HEIGHT} fill="transparent" />
      {picture.layers.map((layer, i) => (
        <path
          key={i} d={paths[i]!} fill={fill(colorOf(layer))} class={layer.key === null ? "block rest" : "block"}
          data-row={layer.block?.row}
        />
      ))}
      {picture.layers.map((layer, i) => layer.block && isGrown(layer.block, growth) && (
        <path key={`grown ${i}`} d={paths[i]!} class="grown" fill="url(#grown)" />
      ))}
      <defs>
        <pattern id="grown" width={6} height={6} patternUnits="userSpaceOnUse">
          <path d="M0 6L6 0" class="grown-line" />
        </pattern>
      </defs>
      <path class="curve dashed" d={reservedPath(reserved, x, y, width)} />
      {growth && [growth.from, growth.to].map((time) => (
        <line key={time} class="growth-moment" x1={x(time)} x2={x(time)} y1={14} y2={HEIGHT} />
      ))}
      <line class="cursor" x1={x(cursor)} x2={x(cursor)} y1={14} y2={HEIGHT} />
      <g class="peak-mark">
        <path d={`M${x(peak.at) - 4} ${y(peak.bytes) - 7}h8l-4 6z`} />
        <text
          x={x(peak.at) + (x(peak.at) > width / 2 ? -8 : 8)} y={y(peak.bytes) - 4}
          text-anchor={x(peak.at) > width / 2 ? "end" : "start"}
        >
          {label}
        </text>
      </g>
    </g>
  );
}

const colorOf = ({ block, key }: BlockLayer): number => (block === null && key === null ? WORK : hueOf(key!));

function reservedPath(
  points: readonly Point[], x: (at: number) => number, y: (bytes: number) => number, width: number,
): string {
  const known = points.filter(({ high }) => !Number.isNaN(high));
  const at = (value: number) => value.toFixed(1);
  const steps = known.map(({ time, high }, i) => `${i === 0 ? `M${at(x(time))} ` : `H${at(x(time))}V`}${at(y(high))}`);
  return steps.length === 0 ? "" : `${steps.join("")}H${at(width)}`;
}

type HoldersProps = { viewer: Viewer; memory: DeviceBlocks; time: number };

function Holders({ viewer, memory, time }: HoldersProps) {
  const fill = useFill();
  const holders = useMemo(() => holdersAt(memory, time), [memory, time]);
  const all = holders.reduce((sum, { bytes }) => sum + bytes, 0);
  const shown = holders.slice(0, HOLDERS);
  const more = holders.length - shown.length;
  const rest = holders.slice(HOLDERS).reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    <ol class="holders" aria-label="Who holds memory at the cursor">
      {shown.map((holder) => (
        <li key={siteKey(holder)}>
          <details>
            <summary title={`${grouped(holder.bytes)} bytes`}>
              <span
                class={`key-box${isUnknown(holder) ? " rest" : ""}`}
                style={{ background: fill(isUnknown(holder) ? WORK : hueOf(siteKey(holder))) }}
              />
              <span class="label">{nameOf(holder)}</span>
              <span class="amount count">{holder.count > 0 && memory.isMatched && plural(holder.count, "block")}</span>
              <span class="amount">{amount(holder.bytes, "bytes")}</span>
              <span class="amount">{pct((100 * holder.bytes) / all)}</span>
            </summary>
            <Stack viewer={viewer} holder={holder} />
          </details>
        </li>
      ))}
      {more > 0 && <li class="more">{plural(more, "other holder")}: {amount(rest, "bytes")}</li>}
    </ol>
  );
}

const isUnknown = ({ owner, stack, rows }: Holder): boolean => owner === null && stack === null && rows.length === 0;

const nameOf = ({ owner, category, rows }: Holder): string =>
  owner ?? category ?? (rows.length > 0 ? "unknown owner" : "no recorded allocation");

/** The frames, innermost first. */
function Stack({ viewer, holder }: { viewer: Viewer; holder: Holder }) {
  const frames = holder.stack?.split(";").reverse() ?? [];
  return (
    <>
      {frames.length === 0 ? <p class="about">No stack was recorded.</p> : (
        <ul class="stack">
          {frames.map((frame, i) => (
            <li key={i}>{frame}</li>
          ))}
        </ul>
      )}
      {holder.rows.length > 0 && (
        <button class="handle" data-unsaved onClick={() => viewer.openTable("memory_trace", holder.rows[0])}>
          First of its allocations in the table
        </button>
      )}
    </>
  );
}

type FragmentationProps = { viewer: Viewer; report: Report; device: number | null };

/** How much of the reserved memory is free when a snapshot is taken, and in how many pieces. */
function Fragmentation({ viewer, report, device }: FragmentationProps) {
  const fill = useFill();
  const table = tableOf(report, "fragmentation");
  const row = table?.rows.findIndex((_, i) => numberOf(table, i, "device") === device) ?? -1;
  if (table === null || row < 0) return null;
  const value = (name: string) => numberOf(table, row, name) ?? 0;
  const [reserved, allocated, pending] = ["reserved_bytes", "allocated_bytes", "pending_bytes"].map(value);
  const [free, largest, pieces] = ["free_bytes", "largest_free_bytes", "free_blocks"].map(value);
  const parts: [name: string, bytes: number, code: number, kind: string][] = [
    ["in use", allocated!, WORK, ""], ["pending", pending!, FIRST_HUE + 4, "both"],
    ["largest free block", largest!, FIRST_HUE + 8, ""],
    ["other free blocks", free! - largest!, FIRST_HUE, "hatched"],
  ];
  return (
    <div class="pairs fragmentation">
      <button class="handle" onClick={() => viewer.openTable("fragmentation", row)}>Fragmentation at the end</button>
      <div class="segments">
        {parts.map(([name, bytes, code, kind]) => (
          <span
            key={name} class={kind} title={`${name}: ${grouped(bytes)} bytes`}
            style={{ width: `${(100 * bytes) / Math.max(1, reserved!)}%`, backgroundColor: fill(code) }}
          />
        ))}
      </div>
      <small>
        {parts.map(([name, bytes, code, kind]) => bytes > 0 && (
          <span key={name} class="unbroken">
            <span class={`key-box ${kind}`} style={{ backgroundColor: fill(code) }} /> {name}{" "}
            {amount(bytes, "bytes")}{" "}
          </span>
        ))}
      </small>
      <small class="whole-line">
        Of {amount(reserved!, "bytes")} reserved, {amount(free!, "bytes")} ({pct(value("free_pct"))}) is free in{" "}
        {plural(pieces!, "block")}, the largest {amount(largest!, "bytes")}: {pct(value("fragmented_pct"))} of the free
        memory is in smaller ones.
      </small>
    </div>
  );
}
