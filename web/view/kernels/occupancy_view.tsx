// Theoretical and achieved occupancy, and the resource that limits the blocks of a multiprocessor.

import { WORK } from "../../layout/colors.ts";
import { amount, grouped, plural } from "../../layout/time_text.ts";
import type { Occupancy } from "../../model/kernel/occupancy.ts";
import { ShareBars } from "./share_bars.tsx";

export function OccupancySection({ occupancy }: { occupancy: Occupancy }) {
  const { theoretical_pct, achieved_pct, limits, registers, shared_bytes, waves } = occupancy;
  const isUnknown = theoretical_pct === null && achieved_pct === null;
  const facts = [
    registers === null ? null : `${plural(registers, "register")} per thread`,
    shared_bytes === null ? null : `${amount(shared_bytes, "bytes")} of shared memory per block`,
    waves === null ? null : `${amount(waves, null)} waves of blocks`,
  ].filter((fact) => fact !== null);
  return (
    <section aria-label="Occupancy">
      <h2>Occupancy <small>share of the warp slots</small></h2>
      {isUnknown ? (
        <p class="quiet">Occupancy was not collected.</p>
      ) : (
        <ShareBars
          bars={[
            { name: "Theoretical", share_pct: theoretical_pct, code: WORK, ...limiterNote(occupancy) },
            { name: "Achieved", share_pct: achieved_pct, code: WORK },
          ]}
        />
      )}
      {limits.length > 0 && (
        <table class="figures">
          <caption>Blocks that fit on a multiprocessor, by resource</caption>
          <tbody>
            {limits.map(({ resource, blocks }) => (
              <tr key={resource} class={blocks === limits[0]!.blocks ? "lowest" : ""}>
                <th scope="row">{resource}</th>
                <td>{grouped(blocks)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {facts.length > 0 && <p class="quiet">{facts.join(" · ")}</p>}
    </section>
  );
}

function limiterNote({ theoretical_pct, limits }: Occupancy): { note?: string } {
  if (theoretical_pct === null || theoretical_pct >= 100 || limits.length === 0) return {};
  const lowest = limits.filter(({ blocks }) => blocks === limits[0]!.blocks).map(({ resource }) => resource);
  return { note: `limited by ${lowest.join(" and ")}` };
}
