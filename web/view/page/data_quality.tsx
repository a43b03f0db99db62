// What the numbers are based on. Lines that can change a conclusion come first.

import { unbroken } from "../parts/unbroken.tsx";
import type { Report } from "../../model/recording/report.ts";

export function DataQuality({ lines }: { lines: Report["trust"] }) {
  const sorted = [...lines].sort((a, b) => Number(b.warning) - Number(a.warning));
  return (
    <ul class="data-quality" aria-label="Data quality">
      {sorted.map(({ warning, text }, i) => (
        <li key={i} class={warning ? "warning" : ""}>
          {warning && <strong>! </strong>}
          {unbroken(text)}
        </li>
      ))}
    </ul>
  );
}
