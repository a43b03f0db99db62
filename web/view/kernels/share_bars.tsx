// Bars of shares from 0 to 100 %: name, amount and share, with a note below. An unknown share has no bar.

import { pct } from "../../layout/cell_text.ts";
import { useFill } from "../parts/use_fill.ts";

export interface ShareBar {
  name: string;
  share_pct: number | null;
  code: number; // colour
  amount?: string;
  note?: string;
}

export function ShareBars({ bars }: { bars: readonly ShareBar[] }) {
  const fill = useFill();
  return (
    <ul class="bars still">
      {bars.map(({ name, share_pct: share, code, amount, note }) => (
        <li key={name}>
          <span class="label">{name}</span>
          <span class="amount">{amount ?? ""}</span>
          <span class="amount">{share === null ? "–" : pct(share)}</span>
          <span class="track">
            {share !== null && (
              <span class="fill" style={{ width: `${Math.min(100, share)}%`, background: fill(code) }} />
            )}
          </span>
          {note !== undefined && <small>{note}</small>}
        </li>
      ))}
    </ul>
  );
}
