// Who holds the most memory at the peak: owners of allocations, each with the stack that made them.

import { pct } from "../../layout/cell_text.ts";
import { hueOf } from "../../layout/colors.ts";
import { amount, grouped, plural } from "../../layout/time_text.ts";
import { numberOf, textOf, type ReportTable } from "../../model/recording/report.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { SavePicture } from "../pictures/save_picture.tsx";
import { BarList } from "./bar_list.tsx";

const SHOWN = 8;

export function MemoryHolders({ viewer, table }: { viewer: Viewer; table: ReportTable | null }) {
  if (table === null || table.rows.length === 0) return null;
  const bars = table.rows.slice(0, SHOWN).map((_, row) => {
    const [owner, stack, category] = ["owner", "stack", "category"].map((name) => textOf(table, row, name));
    const [bytes, share, count] = ["bytes", "share_pct", "count"].map((name) => numberOf(table, row, name) ?? 0);
    return {
      label: owner ?? category ?? "allocated before the recording",
      title: `${grouped(bytes!)} bytes in ${plural(count!, "allocation")}\n${stack ?? "no stack recorded"}`,
      amounts: [amount(bytes!, "bytes"), pct(share!)],
      share: share! / 100,
      code: hueOf(owner ?? ""),
      onClick: () => viewer.openTable("allocations", row),
    };
  });
  return (
    <section aria-label="Largest allocations">
      <SavePicture title="Largest allocations" about="share of the memory allocated at the peak" />
      <h2>Largest allocations <small>share of the memory allocated at the peak</small></h2>
      <BarList bars={bars} />
      {table.row_count > SHOWN && (
        <button class="handle" data-unsaved onClick={() => viewer.openTable("allocations")}>
          Show all {table.row_count} owners
        </button>
      )}
    </section>
  );
}
