// Busy time of each device over the part that the report covers. A click shows that time on the timeline.

import { useState } from "preact/hooks";
import { busyPath } from "../../layout/busy_path.ts";
import { pct } from "../../layout/cell_text.ts";
import { WORK } from "../../layout/colors.ts";
import { ticksOf } from "../../layout/ticks.ts";
import { duration, moment } from "../../layout/time_text.ts";
import { numberOf, tableOf, type BusyShares, type Report } from "../../model/recording/report.ts";
import { reportedPart } from "../../model/table/row_navigation.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { SavePicture } from "../pictures/save_picture.tsx";
import { HeatGrid } from "../parts/heat_grid.tsx";
import { useWidth } from "../parts/use_width.ts";
import { FEW } from "./idle_causes.tsx";

const ZOOM_SHARE = 0.05; // share of the part that a click shows

type BusyStripsProps = { viewer: Viewer; report: Report; measured: BusyShares | null };

export function BusyStrips({ viewer, report, measured }: BusyStripsProps) {
  if (measured === null || measured.devices.length === 0) return null;
  const isMany = measured.devices.length > FEW;
  return (
    <section class="busy" aria-label="Busy time by GPU">
      <SavePicture title="Busy time by GPU" />
      <h2>Busy time by GPU</h2>
      {isMany && <HeatStrip viewer={viewer} report={report} measured={measured} />}
      {!isMany && measured.devices.map(({ device, busy }) => (
        <Strip key={device} viewer={viewer} report={report} device={device} shares={busy} />
      ))}
      {!isMany && <Axis viewer={viewer} />}
    </section>
  );
}

type HeatStripProps = { viewer: Viewer; report: Report; measured: BusyShares };

/** All devices as one picture: a row each, the darker the busier. */
function HeatStrip({ viewer, report, measured: { devices } }: HeatStripProps) {
  const part = reportedPart(viewer.recording);
  const span = part.to - part.from;
  const timeOf = (row: number, slice: number) => part.from + (span * (slice + 0.5)) / devices[row]!.busy.length;
  const rows = devices.map(({ device, busy }) => {
    const summary = summaryOf(report, device);
    const spoken = `GPU ${device}, ${summary}; click to show on the timeline`;
    return { name: `GPU ${device}`, amounts: summary.split(" busy")[0]!, spoken, shades: busy };
  });
  const textAt = (row: number, slice: number) => {
    const { device, busy } = devices[row]!;
    const now = `${pct(busy[slice]! * 100)} busy at ${moment(timeOf(row, slice), span / 1000)}`;
    return `GPU ${device}: ${now}; ${summaryOf(report, device)} in all`;
  };
  const show = (row: number, slice: number | null) => {
    if (slice === null) return viewer.goTo(part);
    const middle = timeOf(row, slice);
    viewer.goTo({ from: middle - (span * ZOOM_SHARE) / 2, to: middle + (span * ZOOM_SHARE) / 2 });
  };
  return (
    <HeatGrid
      rows={rows} code={WORK} textOf={textAt} onChoose={show} axis={<Axis viewer={viewer} />}
      usual="The fuller the colour, the busier. Click a time to show it on the timeline."
    />
  );
}

type StripProps = { viewer: Viewer; report: Report; device: number; shares: number[] };

function Strip({ viewer, report, device, shares }: StripProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const part = reportedPart(viewer.recording);
  const span = part.to - part.from;
  const summary = summaryOf(report, device);
  const shareAt = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
  };
  const go = (event: MouseEvent) => {
    if (event.detail === 0) return viewer.goTo(part); // by keyboard
    const middle = part.from + shareAt(event) * span;
    viewer.goTo({ from: middle - (span * ZOOM_SHARE) / 2, to: middle + (span * ZOOM_SHARE) / 2 });
  };
  const sliceText = (slice: number) =>
    `${moment(part.from + pointed! * span, span / 1000)}: ${pct(shares[slice]! * 100)} busy`;
  const slice = pointed === null ? null : Math.min(shares.length - 1, Math.floor(pointed * shares.length));
  return (
    <div class="strip">
      <p>
        <strong>GPU {device}</strong> <span>{slice === null ? summary : sliceText(slice)}</span>
      </p>
      <button
        aria-label={`GPU ${device}, ${summary}; click to show on the timeline`}
        onClick={go}
        onPointerMove={(event) => setPointed(shareAt(event))}
        onPointerLeave={() => setPointed(null)}
      >
        <svg viewBox={`0 0 ${shares.length} 1`} preserveAspectRatio="none" aria-hidden="true">
          <path d={busyPath(shares)} />
        </svg>
      </button>
    </div>
  );
}

function summaryOf(report: Report, device: number): string {
  const table = tableOf(report, "devices");
  const row = table?.rows.findIndex((_, i) => numberOf(table, i, "device") === device) ?? -1;
  if (!table || row < 0) return "";
  const value = (name: string) => numberOf(table, row, name);
  const [share, busy, idle, window] = ["busy_pct", "busy_ns", "idle_ns", "window_ns"].map(value);
  if (share === null || busy === null || idle === null || window === null) return "";
  return `${pct(share!)} busy: ${duration(busy!)} of ${duration(window!)}, ${duration(idle!)} idle`;
}

function Axis({ viewer }: { viewer: Viewer }) {
  const [element, width] = useWidth<HTMLDivElement>();
  const part = reportedPart(viewer.recording);
  const { ticks, base } = ticksOf(part, width, 90);
  return (
    <div class="axis" ref={element} aria-hidden="true">
      {ticks.map(({ at, label }) => {
        const x = ((at - part.from) / (part.to - part.from)) * width;
        return (
          x < width - 40 && (
            <span key={at} style={{ left: `${x}px` }}>
              {base === null || at !== ticks[0]!.at ? label : `${base} ${label}`}
            </span>
          )
        );
      })}
    </div>
  );
}
