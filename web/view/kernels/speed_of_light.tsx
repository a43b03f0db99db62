// How close the kernel came to the peaks of the GPU: multiprocessors, memory system, and each level of memory.

import { WORK } from "../../layout/colors.ts";
import { levelCode } from "../../layout/level_style.ts";
import { amount } from "../../layout/time_text.ts";
import type { MeasuredKernel } from "../../model/kernel/measured_kernels.ts";
import type { MemoryUnit, UnitName } from "../../model/kernel/memory_chart.ts";
import { ShareBars } from "./share_bars.tsx";
import { SavePicture } from "../pictures/save_picture.tsx";

const UNITS: readonly [UnitName, string][] = [
  ["L1", "L1 cache"],
  ["L2", "L2 cache"],
  ["DRAM", "device memory"],
];

export function SpeedOfLight({ kernel, units }: { kernel: MeasuredKernel; units: Record<UnitName, MemoryUnit> }) {
  const bars = [
    { name: "Compute", share_pct: kernel.compute_pct, code: WORK, note: "busiest part of the multiprocessors" },
    { name: "Memory", share_pct: kernel.memory_pct, code: WORK, note: "busiest part of the caches and device memory" },
    ...UNITS.map(([unit, name]) => {
      const { busy_pct, bytes_per_s } = units[unit];
      const rate = bytes_per_s === null ? {} : { amount: amount(bytes_per_s, "byte/s") };
      return { name: `· ${name}`, share_pct: busy_pct, code: levelCode(unit), ...rate };
    }),
  ];
  return (
    <section aria-label="Speed of light">
      <SavePicture title="Speed of light" />
      <h2>Speed of light <small>share of the peak</small></h2>
      {bars.every(({ share_pct }) => share_pct === null) ? (
        <p class="quiet">Throughput was not collected.</p>
      ) : (
        <>
          <ShareBars bars={bars} />
          <p class="quiet">Single caches have counters of their own, which can be slightly above Memory.</p>
        </>
      )}
    </section>
  );
}
