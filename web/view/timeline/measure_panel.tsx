// The measured range: its length, the busy and idle time of each device, and the number of events that start in it.

import { useEffect, useState } from "preact/hooks";
import { CAUSES, causeOf, EXPOSED, HIDDEN, PHASES, type Cause } from "../../layout/colors.ts";
import { kindsOf } from "../../model/recording/event_kind.ts";
import { duration, exact, grouped, moment, percent } from "../../layout/time_text.ts";
import { isKept } from "../../model/range/kept_ranges.ts";
import { measure, type DeviceMeasure, type Measure } from "../../model/range/measure.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { KindLegend } from "../parts/kind_legend.tsx";
import { Swatch } from "../parts/swatch.tsx";
import { useViewerState } from "../parts/use_state.ts";

export function MeasurePanel({ viewer }: { viewer: Viewer }) {
  const range = useViewerState(viewer, (state) => state.range);
  const [shown, setShown] = useState<{ measure?: Measure; error?: string }>({});
  useEffect(() => {
    let current = true;
    if (range !== null)
      measure(viewer.recording, range).then(
        (result) => current && setShown({ measure: result }),
        (error: unknown) => current && setShown({ error: String(error) }),
      );
    return () => void (current = false);
  }, [viewer, range]);
  const kept = useViewerState(viewer, (state) => state.range !== null && isKept(state.kept, state.range));
  if (range === null) return null;
  return (
    <section class="measure" aria-label="Measured range">
      <h2>
        Measured range
        <span class="spacer" />
        {!kept && (
          <button title="Keep this range with a number (S)" onClick={() => viewer.keepRange()}>Keep</button>
        )}{" "}
        <button onClick={() => viewer.set({ range: null })}>Clear</button>
      </h2>
      {shown.error !== undefined && <p class="warning">{shown.error}</p>}
      {shown.measure && <Figures measured={shown.measure} />}
    </section>
  );
}

const AFTER = "after the start of the recording";

function Figures({ measured }: { measured: Measure }) {
  const { range, length_ns: length } = measured;
  return (
    <>
      <table>
        <tbody>
          <MeasureRow name="duration" value={duration(length)} title={exact(length)} />
          <MeasureRow name="start" value={moment(range.from, 1)} title={`${exact(range.from)} ${AFTER}`} />
          <MeasureRow name="end" value={moment(range.to, 1)} title={`${exact(range.to)} ${AFTER}`} />
        </tbody>
      </table>
      {measured.devices.map((device) => (
        <Device key={device.device} device={device} length={length} />
      ))}
      <h3 title="Events that started earlier are not counted.">Events starting in the range</h3>
      {measured.counts.length === 0 && <p class="quiet">None</p>}
      <table>
        <tbody>
          {measured.counts.map(({ table, count }) => (
            <MeasureRow key={table} name={kindsOf(table)} value={grouped(count)} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function Device({ device, length }: { device: DeviceMeasure; length: number }) {
  const figures = (ns: number) => ({ value: duration(ns), share: ns / length, title: exact(ns) });
  return (
    <>
      <h3>{device.name}</h3>
      <table data-device={device.device}>
        <tbody>
          <MeasureRow name="busy" {...figures(device.busy_ns)} />
          {device.idle.map(({ cause, ns }) => (
            <MeasureRow key={cause} name={`idle: ${cause}`} {...figures(ns)} cause={causeOf(cause)} />
          ))}
        </tbody>
      </table>
    </>
  );
}

type MeasureRowProps = { name: string; value: string; share?: number; title?: string; cause?: Cause };

function MeasureRow(line: MeasureRowProps) {
  return (
    <tr title={line.title}>
      <th scope="row">
        {line.cause && <Swatch code={line.cause.code} letter={line.cause.letter} />}
        {line.name}
      </th>
      <td>{line.value}</td>
      <td>{line.share === undefined || !Number.isFinite(line.share) ? "" : percent(line.share)}</td>
    </tr>
  );
}

/** The causes of idle time in this recording, with letter and colour. */
export function Legend({ viewer }: { viewer: Viewer }) {
  const lanes = viewer.recording.manifest.lanes.filter((lane) => lane.table === "gap");
  const present = new Set(lanes.map((lane) => lane.label ?? "unknown"));
  if (present.size === 0)
    return (
      <>
        <PhaseLegend viewer={viewer} />
        <CommunicationLegend viewer={viewer} />
        <KindLegend viewers={[viewer]} />
      </>
    );
  const known = CAUSES.filter((cause) => present.has(cause.name));
  const others = [...present].filter((name) => !known.some((cause) => cause.name === name)).map(causeOf);
  return (
    <section class="legend" aria-label="Causes of idle time">
      <h2>Idle time by cause</h2>
      <ul>
        {[...known, ...others].map((cause) => (
          <li key={cause.name}>
            <Swatch code={cause.code} letter={cause.letter} /> {cause.name}
          </li>
        ))}
      </ul>
      <PhaseLegend viewer={viewer} />
      <CommunicationLegend viewer={viewer} />
      <h2>Kinds of work</h2>
      <KindLegend viewers={[viewer]} />
      <p class="quiet">A low slice merges short events. The lower it is, the less of its duration they cover.</p>
    </section>
  );
}

function PhaseLegend({ viewer }: { viewer: Viewer }) {
  const lanes = viewer.recording.manifest.lanes.filter((lane) => lane.table === "iteration");
  const present = PHASES.filter(({ name }) => lanes.some((lane) => lane.label === name));
  if (present.length === 0) return null;
  return (
    <>
      <h2>Iterations by phase</h2>
      <ul class="kinds" aria-label="Iterations by phase">
        {present.map(({ name, letter, code }) => (
          <li key={name}><Swatch code={code} letter={letter} /> {name}</li>
        ))}
      </ul>
    </>
  );
}

function CommunicationLegend({ viewer }: { viewer: Viewer }) {
  if (!viewer.recording.manifest.tracks.some(({ kind }) => kind === "communication")) return null;
  return (
    <>
      <h2>Communication</h2>
      <ul class="kinds" aria-label="Communication">
        <li><Swatch code={EXPOSED} letter="╱" /> exposed: no other kernel runs</li>
        <li><Swatch code={HIDDEN} letter="" /> hidden behind other kernels</li>
      </ul>
    </>
  );
}
