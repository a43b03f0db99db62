// The parts that add up to the difference in device time per step. Bars to the right: slower in NEW; to the left:
// faster.

import { useRef } from "preact/hooks";
import type { Caption } from "../../draw/picture.ts";
import { causeOf, colorOf } from "../../layout/colors.ts";
import { exact, signedDuration } from "../../layout/time_text.ts";
import { numberOf, textOf, type ReportTable } from "../../model/recording/report.ts";
import { PictureMenu } from "../pictures/picture_menu.tsx";
import { NameText } from "../parts/name_text.tsx";
import { Swatch } from "../parts/swatch.tsx";
import { useFill } from "../parts/use_fill.ts";

const SHOWN = 8;

interface Props {
  table: ReportTable | null;
  caption: Caption; // of the saved picture
  onOpen: (table: ReportTable, row: number) => void;
}

export function Attribution({ table, caption, onOpen }: Props) {
  const fill = useFill();
  const section = useRef<HTMLElement>(null);
  if (table === null || table.rows.length === 0) return null;
  const all = table.rows.map((_, row) => attributionPart(table, row)); // sorted by size, largest first
  const parts = all.filter((part) => part.difference !== 0).slice(0, SHOWN);
  const isCut = parts.length === SHOWN;
  const cut = `The ${SHOWN} largest parts of ${table.row_count}; the attribution table below lists all.`;
  const most = Math.max(1, ...parts.map((part) => Math.abs(part.difference)));
  return (
    <section class="attribution" ref={section} aria-label="Attribution of the difference">
      <div class="save-picture">
        <PictureMenu element={() => section.current} caption={() => caption} />
      </div>
      <h2>Attribution of the difference <small>time per step and device</small></h2>
      {parts.length === 0 && <p>No part differs.</p>}
      <ul class="bars signed">
        {parts.map(({ row, kind, name, base, next, difference, isIdle }) => {
          const cause = causeOf(name);
          const width = (50 * Math.abs(difference)) / most;
          const left = difference > 0 ? 50 : 50 - width;
          const background = fill(isIdle ? cause.code : colorOf("kernel", name));
          const title = `${kind}: ${name}\n${exact(base)} in BASE, ${exact(next)} in NEW`;
          return (
            <li key={row}>
              <button title={`${title}; click to highlight it on both timelines`} onClick={() => onOpen(table, row)}>
                <span class="label">
                  {isIdle && <Swatch code={cause.code} letter={cause.letter} />} {kind}:{" "}
                  {isIdle ? name : <NameText name={name} />}
                </span>
                <span class="amount">{signedDuration(difference)}</span>
                <span class="track">
                  <span class="zero" />
                  <span class="fill" style={{ left: `${left}%`, width: `${width}%`, background }} />
                </span>
              </button>
            </li>
          );
        })}
      </ul>
      {[...table.notes, ...(isCut ? [cut] : [])].map((note) => (
        <p key={note} class="note">{note}</p>
      ))}
    </section>
  );
}

function attributionPart(table: ReportTable, row: number) {
  const kind = textOf(table, row, "kind") ?? "";
  const number = (column: string) => numberOf(table, row, column) ?? 0;
  const [base, next, difference] = [number("base_ns"), number("new_ns"), number("difference_ns")];
  return { row, kind, name: textOf(table, row, "name") ?? "", base, next, difference, isIdle: kind === "idle" };
}
