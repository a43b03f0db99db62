// A bar chart: label, amount and share of each item.

import type { ComponentChildren } from "preact";
import { useFill } from "../parts/use_fill.ts";

export interface Bar {
  label: ComponentChildren;
  title: string;
  amounts: string[];
  share: number; // 0..1, of the longest possible bar
  code: number; // colour
  onClick: () => void;
}

export function BarList({ bars }: { bars: Bar[] }) {
  const fill = useFill();
  return (
    <ul class="bars">
      {bars.map(({ label, title, amounts, share, code, onClick }, i) => (
        <li key={i}>
          <button title={title} onClick={onClick}>
            <span class="label">{label}</span>
            {amounts.map((amount, j) => (
              <span key={j} class="amount">{amount}</span>
            ))}
            <span class="track">
              <span class="fill" style={{ width: `${Math.min(1, share) * 100}%`, background: fill(code) }} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
