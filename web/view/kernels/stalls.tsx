// What warps wait for between two instructions, as bars.

import { useState } from "preact/hooks";
import { stallCode } from "../../layout/stall_style.ts";
import { plural } from "../../layout/time_text.ts";
import { numberOf, textOf, type ReportTable } from "../../model/recording/report.ts";
import { ShareBars } from "./share_bars.tsx";
import { SavePicture } from "../pictures/save_picture.tsx";

const SHOWN_PCT = 1; // reasons below it are folded

export function Stalls({ table }: { table: ReportTable | null }) {
  const [all, setAll] = useState(false);
  if (table === null || table.rows.length === 0)
    return (
      <section aria-label="Stalls">
        <h2>Stalls</h2>
        <p class="quiet">{table?.notes[0] ?? "Stall reasons were not collected for this kernel."}</p>
      </section>
    );
  const bars = table.rows.map((_, row) => {
    const reason = textOf(table, row, "reason") ?? "";
    const cycles = numberOf(table, row, "cycles");
    return {
      name: reason,
      share_pct: numberOf(table, row, "share_pct"),
      code: stallCode(reason),
      ...(cycles === null ? {} : { amount: `${cycles.toFixed(2)} cycles` }),
      note: textOf(table, row, "waits_for") ?? "",
    };
  });
  const shown = all ? bars : bars.filter(({ share_pct }) => share_pct === null || share_pct >= SHOWN_PCT);
  const rest = bars.length - shown.length;
  return (
    <section aria-label="Stalls">
      <SavePicture title="Stalls" />
      <h2>
        Stalls <small>share of the time between two instructions of a warp, from {textOf(table, 0, "basis")}</small>
      </h2>
      <ShareBars bars={shown} />
      {(rest > 0 || all) && (
        <button onClick={() => setAll(!all)}>
          {all ? "Hide reasons" : `Show ${plural(rest, "reason")}`} below {SHOWN_PCT} %
        </button>
      )}
    </section>
  );
}
