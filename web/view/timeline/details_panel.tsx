// The selected row: every field with its unit, its launch, the work it submitted, its enclosing ranges, its neighbours.

import { useEffect, useState } from "preact/hooks";
import { columnDoc, pct } from "../../layout/cell_text.ts";
import { kindOf } from "../../model/recording/event_kind.ts";
import { visible } from "../../layout/short_name.ts";
import { amount, duration, exact, grouped, moment, unitText } from "../../layout/time_text.ts";
import { detailsOf, type Details, type EventRef } from "../../model/page/details.ts";
import { eventOfThread, idleRowOf } from "../../model/page/gap_links.ts";
import { headingOf } from "../../model/table/heading.ts";
import { kernelLinkOf } from "../../model/kernel/kernel_link.ts";
import { showRowAbout } from "../../model/table/row_navigation.ts";
import type { Row } from "../../model/recording/recording.ts";
import type { ColumnSpec } from "../../model/recording/manifest.ts";
import type { SourceLine } from "../../model/kernel/source_lines.ts";
import type { Selection } from "../../model/recording/range.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import type { Value } from "../../read/column.ts";
import { CopyButton } from "../parts/copy_button.tsx";
import { NameText } from "../parts/name_text.tsx";
import { unbroken } from "../parts/unbroken.tsx";
import { useAsync, useViewerState } from "../parts/use_state.ts";

export function DetailsPanel({ viewer, onDetails }: { viewer: Viewer; onDetails: (details: Details | null) => void }) {
  const selection = useViewerState(viewer, (state) => state.selection);
  const [shown, setShown] = useState<{ of: Selection; details: Details | null } | null>(null);
  useEffect(() => {
    let current = true;
    onDetails(null);
    if (selection === null) return;
    void detailsOf(viewer.recording, selection).then((details) => {
      if (!current) return;
      setShown({ of: selection, details });
      onDetails(details);
    });
    return () => void (current = false);
  }, [viewer, selection]);
  if (selection === null) return null;
  const details = shown?.of === selection ? shown.details : null;
  const highlight = () => viewer.highlight(viewer.state.highlighted.length === 0 ? [selection.name] : []);
  return (
    <section class="details" aria-label="Selected event">
      <h2>
        <span>{kindOf(selection.table)}</span>
        <button onClick={() => viewer.choose(null)}>Clear</button>
      </h2>
      <p class="full">{visible(selection.name)}</p>
      <p class="buttons">
        <CopyButton text={() => selection.name} label="Copy name" title="Copy the full name" />{" "}
        <button onClick={() => viewer.set({ range: { from: selection.from, to: selection.to } })}>Measure</button>{" "}
        <button onClick={highlight}>Highlight same name</button>{" "}
        <button onClick={() => void showRowAbout(viewer, selection)}>Show in table</button>{" "}
        <KernelLinks viewer={viewer} selection={selection} />
      </p>
      {details && <RelatedEvents viewer={viewer} details={details} />}
      {details && <Fields details={details} links={linksOf(viewer, selection, details)} />}
      {!details && <Times selection={selection} />}
    </section>
  );
}

/** Leads from an execution of a kernel to its counters or source lines, and names the line with the most samples. */
function KernelLinks({ viewer, selection }: { viewer: Viewer; selection: Selection }) {
  const find = async () => (selection.table === "kernel" ? kernelLinkOf(viewer.recording, selection.name) : null);
  const { value: page } = useAsync(find, selection);
  if (!page) return null;
  return (
    <>
      <button onClick={() => page.open(viewer)}>{page.measured ? "Show counters" : "Show source lines"}</button>
      {page.hottest && <SourcePlace line={page.hottest} />}
    </>
  );
}

function SourcePlace({ line: { key, share_pct } }: { line: SourceLine }) {
  return (
    <span class="quiet">
      {" "}
      Most samples: {key.slice(key.lastIndexOf("/") + 1)}
      {share_pct !== null && `, ${pct(share_pct)}`}
    </span>
  );
}

/** The only fields known of an event whose table is not in the document. */
function Times({ selection }: { selection: Selection }) {
  return (
    <table>
      <tbody>
        <tr title={exact(selection.from)}>
          <th scope="row">start</th>
          <td>{moment(selection.from, 1)}</td>
        </tr>
        <tr title={exact(selection.to - selection.from)}>
          <th scope="row">duration</th>
          <td>{duration(selection.to - selection.from)}</td>
        </tr>
      </tbody>
    </table>
  );
}

// Shown as links above, or used only by the viewer.
const LINKS = new Set(["name", "dur", "lane", "launch", "work_table", "work_row", "work_count"]);

/** By column: what its value leads to. */
type Links = Record<string, () => void>;

function linksOf(viewer: Viewer, selection: Selection, { row }: Details): Links {
  const { recording } = viewer;
  const column = selection.table === "gap" ? "host_thread" : "thread";
  const thread = row.value(column);
  const links: Links = {};
  if (selection.table === "gap")
    links.cause = () => void idleRowOf(recording, row).then((idle) => viewer.openTable("idle", idle));
  if (typeof thread === "string" && recording.manifest.tracks.some((track) => track.thread === thread)) {
    links[column] = () =>
      void eventOfThread(recording, thread, selection, row.value("host_what")).then((event) =>
        event === null ? viewer.goTo(selection) : viewer.follow(event));
  }
  return links;
}

function Fields({ details, links }: { details: Details; links: Links }) {
  const { row } = details;
  const shape = shapeOf(row);
  const isShown = ({ name }: ColumnSpec) => !LINKS.has(name) && !(shape !== null && SHAPE.has(name));
  const spec = row.columns.filter((column) => isShown(column) && row.value(column.name) !== null);
  const length = row.number("dur");
  return (
    <table>
      <tbody>
        {length !== null && (
          <Field name="duration" doc="Also to the nanosecond." value={exact(length)} short={`${duration(length)} = `} />
        )}
        {shape !== null && <Field name="grid, block" doc="Blocks of the launch, threads of a block." value={shape} />}
        {spec.map((column) => {
          const value = row.value(column.name);
          return (
            <tr key={column.name} title={columnDoc(column)}>
              <th scope="row">{headingOf(column)}</th>
              <td title={exactText(value, column)}>
                {links[column.name] === undefined ? (
                  text(value, column)
                ) : (
                  <button class="handle" onClick={links[column.name]}>{text(value, column)}</button>
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

type FieldProps = { name: string; doc: string; value: string; short?: string };

function Field({ name, doc, value, short = "" }: FieldProps) {
  return (
    <tr title={doc}>
      <th scope="row">{name}</th>
      <td title={value}>{short}{value}</td>
    </tr>
  );
}

const SHAPE = new Set(["grid", "block"].flatMap((name) => ["x", "y", "z"].map((axis) => `${name}_${axis}`)));

/** "32,768, 128", "2 × 66, 384": axes of one element at the end are omitted; null: not recorded. */
function shapeOf(row: Row): string | null {
  const sizes = ["grid", "block"].map((name) => ["x", "y", "z"].map((axis) => row.number(`${name}_${axis}`)));
  if (sizes.some((axes) => axes[0] === null)) return null;
  const shown = sizes.map((axes) => axes.slice(0, axes.findLastIndex((size) => size !== null && size > 1) + 1 || 1));
  return shown.map((axes) => axes.map((size) => grouped(size ?? 1)).join(" × ")).join(", ");
}

const shapeText = (event: Details["next"]): string => {
  const shape = event?.same ? shapeOf(event.same) : null;
  return shape === null ? "" : `${shape}; `;
};

function text(value: Value, column: ColumnSpec): string {
  if (value === null) return "–";
  if (typeof value === "string") return value;
  if (column.type === "time") return moment(Number(value), 1);
  if (column.type === "dur" || column.unit === "ns") return duration(Number(value));
  return column.unit === null || column.unit === "" ? String(value) : amount(Number(value), column.unit);
}

function exactText(value: Value, column: ColumnSpec): string {
  if (value === null || typeof value === "string") return value ?? "";
  const unit = column.unit ?? (column.type === "time" || column.type === "dur" ? "ns" : "");
  return `${unit === "" ? String(value) : grouped(value)} ${unitText(unit)}`.trimEnd();
}

function RelatedEvents({ viewer, details }: { viewer: Viewer; details: Details }) {
  const { launch, line, python, causes, work, work_count: count, enclosing, previous, next } = details;
  const of = viewer.state.selection;
  const link = (label: string, event: EventRef | null, after: (of: Selection, event: EventRef) => string) =>
    event && <Link viewer={viewer} label={label} event={event} after={of ? after(of, event) : ""} />;
  const lengthOf = (_: unknown, { from, to }: EventRef) => duration(to - from);
  const outer = launch ? "enclosing ranges" : "enclosed by";
  const submitted = count > 1 ? `submitted, first of ${grouped(count)}` : "submitted";
  return (
    <dl class="related">
      {link("launched by", launch, (of, call) => `${duration(of.from - call.from)} earlier`)}
      {line !== null && (
        <>
          <dt>Python line</dt>
          <dd>{line}</dd>
        </>
      )}
      {link("Python function", python, lengthOf)}
      {link(submitted, work, (of, { from }) => `${duration(from - of.from)} later`)}
      {enclosing.map((event, i) => link(i === 0 ? outer : "", event, lengthOf))}
      {causes.length > 1 && (
        <>
          <dt>parts</dt>
          <dd>
            <span>{unbroken(causes.map(({ cause, ns }) => `${cause} ${duration(ns)}`).join(", "))}</span>
          </dd>
        </>
      )}
      {link("previous", previous, (of, { to }) => `${shapeText(previous)}gap ${duration(of.from - to)}`)}
      {link("next", next, (of, { from }) => `${shapeText(next)}gap ${duration(from - of.to)}`)}
    </dl>
  );
}

function Link({ viewer, label, event, after }: { viewer: Viewer; label: string; event: EventRef; after: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <button class="link" title={event.name} onClick={() => viewer.choose(event, true)}>
          <NameText name={event.name} />
        </button>
        <small>{after}</small>
      </dd>
    </>
  );
}
