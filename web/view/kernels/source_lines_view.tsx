// The source lines of a kernel: share of the warp samples as heat, stall reasons as a stack, and memory accesses. The
// chosen line is in the address and shows its reasons in full.

import { Fragment } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { pct } from "../../layout/cell_text.ts";
import { ISSUED, stallCode } from "../../layout/stall_style.ts";
import { grouped, plural } from "../../layout/time_text.ts";
import type { ReportTable } from "../../model/recording/report.ts";
import { FIGURES, orderedLines, reasonsOf, sourceLinesOf } from "../../model/kernel/source_lines.ts";
import type { Figure, LineOrder, LineStall, SourceLine } from "../../model/kernel/source_lines.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { Command } from "../page/command.tsx";
import { FiguresTable } from "../parts/figures_table.tsx";
import { useFill } from "../parts/use_fill.ts";
import { useViewerState } from "../parts/use_state.ts";
import { ShareBars } from "./share_bars.tsx";

const SHOWN = 50; // lines; the others are behind a button

const headOf = (figure: Figure): string => (figure.startsWith("ideal") ? "ideal" : figure);

interface Props {
  viewer: Viewer;
  kernel: string; // its name
  source: ReportTable | null;
  stalls: ReportTable | null;
}

export function SourceLines({ viewer, kernel, source, stalls }: Props) {
  const lines = sourceLinesOf(source, stalls);
  if (lines.length === 0)
    return (
      <section aria-label="Source lines">
        <h2>Source lines</h2>
        <p class="quiet">Samples of instructions were not collected for this kernel.</p>
      </section>
    );
  const samples = lines.reduce((sum, line) => sum + (line.samples ?? 0), 0);
  const functions = [...new Set(source!.rows.map((row) => row[0]))];
  return (
    <section class="source-lines" aria-label="Source lines">
      <h2>Source lines <small>where warps wait; {plural(samples, "sample")} of all launches</small></h2>
      {functions.some((name) => name !== kernel) && <p class="quiet">Sampled as {functions.join(", ")}.</p>}
      <Keys lines={lines} />
      <Lines viewer={viewer} lines={lines} />
      <Hints viewer={viewer} lines={lines} />
    </section>
  );
}

function Hints({ viewer, lines }: { viewer: Viewer; lines: readonly SourceLine[] }) {
  const { words } = viewer.recording.manifest.source;
  const isAnywhere = lines.some(({ line }) => line !== null);
  return (
    <>
      <p class="quiet">
        A sample belongs to the instruction that the warp was to issue next: a wait shows at the line that uses a value,
        not at the one that requests it.
      </p>
      {!isAnywhere && <p class="note">The kernel has no line information; compile it with nvcc -lineinfo.</p>}
      {isAnywhere && lines.every(({ text }) => text === null) && (
        <p class="note">The text of the lines: <Command text={`gpu-profile view ${words} --sources DIR`} /></p>
      )}
    </>
  );
}

function Keys({ lines }: { lines: readonly SourceLine[] }) {
  const fill = useFill();
  return (
    <p class="keys">
      {reasonsOf(lines).map((reason) => (
        <span key={reason}>
          <span class="key-box" style={{ background: fill(stallCode(reason)) }} aria-hidden="true" />{" "}
          {reasonText(reason)}
        </span>
      ))}
    </p>
  );
}

const reasonText = (reason: string): string => (reason === ISSUED ? `${reason} (issued, no stall)` : reason);

const barOf = ({ reason, share_pct, waits_for }: LineStall) =>
  ({ name: reasonText(reason), share_pct, code: stallCode(reason), note: waits_for });

function Lines({ viewer, lines }: { viewer: Viewer; lines: readonly SourceLine[] }) {
  const [order, setOrder] = useState<LineOrder>("share");
  const [all, setAll] = useState(false);
  const chosen = useViewerState(viewer, (state) => state.kernels.line);
  const ordered = orderedLines(lines, order);
  const shown = all ? ordered : ordered.filter((line, i) => i < SHOWN || line.key === chosen);
  const hidden = plural(lines.length - shown.length, "more line");
  const figures = FIGURES.filter((name) => lines.some((line) => line.figures[name] !== null));
  const devices = new Set(lines.map(({ device }) => device));
  const hasText = lines.some(({ text }) => text !== null);
  const most = Math.max(0, ...lines.map(({ share_pct }) => share_pct ?? 0));
  const head = (by: LineOrder, text: string) => (
    <button class="sort" aria-pressed={order === by} title={`Sort by ${text}`} onClick={() => setOrder(by)}>
      {text}
      <span aria-hidden="true">{order === by ? (by === "share" ? " ▾" : " ▴") : ""}</span>
    </button>
  );
  const text = hasText ? [<span class="left">source</span>] : [];
  const stalls = <span class="left stack-head">stall reasons</span>;
  const heads = [head("line", "line"), ...text, head("share", "share"), stalls, ...figures.map(headOf)];
  const deviceOf = (line: SourceLine) => (devices.size > 1 ? line.device : null);
  const isChosen = ({ key }: SourceLine) => key !== "" && key === chosen;
  return (
    <>
      <FiguresTable label="Lines of the kernel" heads={heads}>
        {shown.map((line) => (
          <Fragment key={`${line.key} ${line.device}`}>
            <Line {...{ viewer, line, hasText, figures, most }} isChosen={isChosen(line)} device={deviceOf(line)} />
            {isChosen(line) && <Reasons line={line} columns={heads.length} />}
          </Fragment>
        ))}
      </FiguresTable>
      {(lines.length > shown.length || all) && (
        <button onClick={() => setAll(!all)}>{all ? `Show the first ${SHOWN} lines` : `Show ${hidden}`}</button>
      )}
    </>
  );
}

interface LineProps {
  viewer: Viewer;
  line: SourceLine;
  isChosen: boolean;
  hasText: boolean;
  figures: readonly Figure[];
  most: number; // largest share of the kernel's lines
  device: number | null; // null: all lines are of one device
}

function Line({ viewer, line, isChosen, hasText, figures, most, device }: LineProps) {
  const element = useRef<HTMLTableRowElement>(null);
  const fill = useFill();
  useLayoutEffect(() => void (isChosen && element.current?.scrollIntoView({ block: "nearest" })), []);
  const place =
    line.line === null ? "no line information" : `${line.file?.split("/").pop() ?? "unknown file"}:${line.line}`;
  const heat = most > 0 ? (line.share_pct ?? 0) / most : 0;
  const sampled = line.samples === null ? "not sampled" : plural(line.samples, "sample");
  const stalls = line.stalls.map(({ reason, share_pct }) => `${reason} ${pct(share_pct)}`);
  const choose = () => viewer.set({ kernels: { line: isChosen ? null : line.key } });
  return (
    <tr ref={element} class={isChosen ? "chosen" : ""}>
      <th scope="row">
        {line.key === "" ? (
          place
        ) : (
          <button class="handle" title={`${line.file}:${line.line}`} aria-expanded={isChosen} onClick={choose}>
            {place}
          </button>
        )}
        {device !== null && <small> GPU {device}</small>}
      </th>
      {hasText && (
        <td class="code" title={line.text ?? undefined}>{line.text ?? "–"}</td>
      )}
      <td class="heat" style={{ "--heat": `${Math.round(100 * heat)}%` }} title={sampled}>
        {line.share_pct === null ? "–" : pct(line.share_pct)}
      </td>
      <td>
        {line.stalls.length === 0 ? (
          "–"
        ) : (
          <span class="stack" role="img" aria-label={stalls.join(", ")}>
            {line.stalls.map(({ reason, share_pct, waits_for }, i) => {
              const style = { width: `${share_pct}%`, background: fill(stallCode(reason)) };
              return <span key={reason} style={style} title={`${stalls[i]}: ${waits_for}`} />;
            })}
          </span>
        )}
      </td>
      {figures.map((name) => (
        <td key={name}>{line.figures[name] === null ? "–" : grouped(line.figures[name]!)}</td>
      ))}
    </tr>
  );
}

function Reasons({ line, columns }: { line: SourceLine; columns: number }) {
  return (
    <tr class="reasons">
      <td colSpan={columns}>
        <p class="full">{line.file}:{line.line}</p>
        {line.stalls.length === 0 ? (
          <p class="quiet">Warps were not sampled at this line.</p>
        ) : (
          <ShareBars bars={line.stalls.map(barOf)} />
        )}
      </td>
    </tr>
  );
}
