// How much communication is exposed on each GPU, in which step, and behind what the rest runs; then copies beside
// kernels. Every number is of the analyses `communication` and `overlap`.

import { EXPOSED, FIRST_HUE, HIDDEN, WORK } from "../../layout/colors.ts";
import { pct } from "../../layout/cell_text.ts";
import { shortName } from "../../layout/short_name.ts";
import { duration, exact } from "../../layout/time_text.ts";
import {
  mostExposed, readCommunication, type Communication, type CommunicationCell,
} from "../../model/recording/communication.ts";
import { noteOf, numberOf, tableOf, textOf, type Report, type ReportTable } from "../../model/recording/report.ts";
import { around } from "../../model/recording/range.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { HeatGrid } from "../parts/heat_grid.tsx";
import { unbroken } from "../parts/unbroken.tsx";
import { useAsync } from "../parts/use_state.ts";
import { useFill } from "../parts/use_fill.ts";
import { MissingChart, ChartSection, type ChartProps } from "./chart_section.tsx";

const TITLE = "Overlap";
const NEITHER = "Overlap needs communication or copies beside kernels; the recording has neither.";
const WORST = 5; // cells in the list
const MANY = 16; // devices that have a bar each
const OTHER = FIRST_HUE + 1;

export function Overlap({ viewer, report }: ChartProps) {
  const table = tableOf(report, "communication");
  const load = async () => (table === null ? null : readCommunication(viewer.recording, table));
  const { value: communication, error } = useAsync(load, report);
  const copies = copiesOf(report);
  if (error !== undefined) return <p class="notice">Cannot read the communication: {error}</p>;
  if (communication === undefined) return null;
  if (communication === null && copies.length === 0)
    return <MissingChart id="overlap" title={TITLE} report={report} table="communication" otherwise={NEITHER} />;
  return (
    <ChartSection id="overlap" title={TITLE} about={communication === null ? noteOf(report, "communication") : ""}>
      {communication && <Exposed viewer={viewer} communication={communication} />}
      {copies.length > 0 && <Copies viewer={viewer} copies={copies} />}
      <p class="about">
        <button class="handle" data-unsaved onClick={() => viewer.openTable("overlap")}>All pairs of streams</button>
      </p>
    </ChartSection>
  );
}

type ExposedProps = { viewer: Viewer; communication: Communication };

function Exposed({ viewer, communication }: ExposedProps) {
  const { devices, steps, totals } = communication;
  const comm = totals.reduce((sum, each) => sum + each.comm, 0);
  const exposed = totals.reduce((sum, each) => sum + each.exposed, 0);
  const longest = Math.max(1, ...totals.map((each) => each.comm));
  const hasSteps = steps.some(({ name }) => name !== null);
  const isMany = devices.length > MANY && hasSteps;
  const show = (device: number, cell: CommunicationCell | null) => showCommunication(viewer, device, cell);
  return (
    <>
      <h3>Communication by GPU</h3>
      <p class="about">
        {duration(exposed)} of {duration(comm)} is exposed ({pct((100 * exposed) / Math.max(1, comm))}
        {devices.length > 1 && `, summed over ${devices.length} GPUs`}): a collective runs and no other kernel does.
      </p>
      {isMany && <p class="about">Each row below ends with what is exposed on its GPU.</p>}
      <ul class="pairs lines">
        {!isMany && devices.map((device, i) => (
          <Bar
            key={device} label={`GPU ${device}`} onClick={() => show(device, null)} of={longest}
            title="Show the track of communication on the timeline"
            parts={[
              { name: "exposed", ns: totals[i]!.exposed, code: EXPOSED, kind: "hatched" },
              { name: "hidden", ns: totals[i]!.comm - totals[i]!.exposed, code: HIDDEN },
            ]}
          />
        ))}
      </ul>
      {hasSteps && <BySteps viewer={viewer} communication={communication} onShow={show} />}
      <Worst viewer={viewer} communication={communication} onShow={show} />
    </>
  );
}

type OnShow = (device: number, cell: CommunicationCell | null) => void;
type PartProps = { viewer: Viewer; communication: Communication; onShow: OnShow };

function BySteps({ communication, onShow }: PartProps) {
  const { devices, totals } = communication;
  const steps = communication.steps.filter(({ name }) => name !== null);
  const most = Math.max(1, ...steps.flatMap(({ cells }) => cells.map((cell) => cell?.exposed ?? 0)));
  const rows = devices.map((device, i) => ({
    name: `GPU ${device}`,
    amounts: duration(totals[i]!.exposed),
    spoken: `GPU ${device}: ${duration(totals[i]!.exposed)} exposed; show on the timeline`,
    shades: steps.map(({ cells }) => (cells[i] ? cells[i].exposed / most : null)),
  }));
  const textIn = (row: number, column: number) => {
    const cell = steps[column]!.cells[row];
    return `GPU ${devices[row]}, ${stepText(steps[column]!.name)}: ${cell ? textOfCell(cell) : "no communication"}`;
  };
  return (
    <>
      <h3>Exposed communication by step</h3>
      <HeatGrid
        rows={rows} code={EXPOSED} textOf={textIn} axis={<StepAxis names={steps.map(({ name }) => name ?? "")} />}
        onChoose={(row, column) => onShow(devices[row]!, column === null ? null : (steps[column]!.cells[row] ?? null))}
        usual={`A column is a step, ${steps.length} in all. Full colour: ${duration(most)}. Click a cell to go there.`}
      />
    </>
  );
}

/** "step 7", "ProfilerStep#7" */
const stepText = (name: string | null): string => (/^\d+$/.test(name ?? "") ? `step ${name}` : (name ?? ""));

const STEP_LABELS = 8; // at most

/** The names of steps below their columns, as many as have room. */
function StepAxis({ names }: { names: readonly string[] }) {
  const every = Math.ceil(names.length / STEP_LABELS);
  return (
    <div class="axis" aria-hidden="true">
      {names.map((name, i) => i % every === 0 && (
        <span key={i} style={{ left: `${(100 * i) / names.length}%` }}>{name.replace(/^ProfilerStep#/, "#")}</span>
      ))}
    </div>
  );
}

/** "4.2 ms of 5.0 ms exposed, most of it in AllReduce; 800 us behind gemm" */
export function textOfCell({ comm, exposed, collective, collectiveTime, behind, behindTime }: CommunicationCell) {
  const alone = collective === null ? "" : `, most of it in ${shortName(collective)} (${duration(collectiveTime)})`;
  const hides = behind === null ? "" : `; hidden most behind ${shortName(behind)} (${duration(behindTime)})`;
  return `${duration(exposed)} of ${duration(comm)} exposed${exposed > 0 ? alone : ""}${hides}`;
}

function Worst({ viewer, communication, onShow }: PartProps) {
  const worst = mostExposed(communication, WORST);
  if (worst.length === 0) return null;
  return (
    <>
      <h3>Most exposed</h3>
      <ol class="worst">
        {worst.map(({ cell, step, device }) => (
          <li key={cell.row}>
            <button class="handle" onClick={() => onShow(device, cell)}>
              GPU {device}{step.name === null ? "" : `, ${stepText(step.name)}`}
            </button>
            : {textOfCell(cell)}
          </li>
        ))}
      </ol>
      <p class="about">
        <button class="handle" data-unsaved onClick={() => viewer.openTable("communication")}>
          All GPUs and steps
        </button>
      </p>
    </>
  );
}

/** Goes to a device's track of communication, in a step if one is given. */
export function showCommunication(viewer: Viewer, device: number, cell: CommunicationCell | null): void {
  const { tracks } = viewer.recording.manifest;
  const track = tracks.find((each) => each.kind === "communication" && each.device === device);
  if (track !== undefined) viewer.showTrack(track.id);
  if (cell?.start != null) viewer.jump(around({ from: cell.start, to: cell.start + (cell.dur ?? 0) }, 0.1));
  if (track === undefined && cell === null) viewer.openTable("communication");
}

type Copy = { row: number; device: number; onlyKernel: number; both: number; onlyCopy: number };

function copiesOf(report: Report): Copy[] {
  const table = tableOf(report, "overlap");
  if (table === null) return [];
  const isCopy = (row: number) => textOf(table, row, "a") === "kernel" && textOf(table, row, "b") === "memcpy";
  return table.rows.map((_, row) => row).filter(isCopy).map((row) => copyOf(table, row));
}

function copyOf(table: ReportTable, row: number): Copy {
  const value = (name: string) => numberOf(table, row, name) ?? 0;
  return {
    row, device: value("device"), onlyKernel: value("a_exposed_ns"), both: value("both_ns"),
    onlyCopy: value("b_exposed_ns"),
  };
}

function Copies({ viewer, copies }: { viewer: Viewer; copies: Copy[] }) {
  const longest = Math.max(1, ...copies.map(({ onlyKernel, both, onlyCopy }) => onlyKernel + both + onlyCopy));
  const exposedFirst = [...copies].sort((a, b) => b.onlyCopy - a.onlyCopy);
  const shown = copies.length > MANY ? exposedFirst.slice(0, WORST) : copies;
  return (
    <>
      <h3>Copies and kernels</h3>
      {shown.length < copies.length && (
        <p class="about">The {shown.length} of {copies.length} GPUs on which copies run alone longest.</p>
      )}
      <ul class="pairs lines">
        {shown.map(({ row, device, onlyKernel, both, onlyCopy }) => (
          <Bar
            key={row} label={`GPU ${device}`} onClick={() => viewer.openTable("overlap", row)} of={longest}
            title="Show the row of the table"
            parts={[
              { name: "kernels only", ns: onlyKernel, code: WORK },
              { name: "both", ns: both, code: OTHER, kind: "both" },
              { name: "copies only", ns: onlyCopy, code: FIRST_HUE, kind: "hatched" },
            ]}
          />
        ))}
      </ul>
    </>
  );
}

type BarPart = { name: string; ns: number; code: number; kind?: string };
type BarProps = { label: string; title: string; onClick: () => void; of: number; parts: BarPart[] };

function Bar({ label, title, onClick, of, parts }: BarProps) {
  const fill = useFill();
  return (
    <li>
      <button class="handle" title={title} onClick={onClick}>{label}</button>
      <div class="segments">
        {parts.map(({ name, ns, code, kind = "" }) => (
          <span
            key={name} class={kind} title={`${name}: ${exact(ns)}`}
            style={{ width: `${(ns / of) * 100}%`, backgroundColor: fill(code) }}
          />
        ))}
      </div>
      <small>{unbroken(parts.map(({ name, ns }) => `${name}: ${duration(ns)}`).join(" · "))}</small>
    </li>
  );
}
