// The colours of the heat map, from as good as usual to the worst, with values.

import { jobColors } from "../../draw/heat_colors.ts";
import { css, DARK, LIGHT } from "../../draw/theme.ts";
import type { HeatScale } from "../../layout/heat_scale.ts";

const LEGEND_STEPS = 24;

export function HeatLegend({ heat, dark }: { heat: HeatScale; dark: boolean }) {
  const { shades } = jobColors(dark ? DARK : LIGHT);
  const stops = Array.from({ length: LEGEND_STEPS }, (_, i) => {
    const color = css(shades[1 + Math.round((254 * i) / (LEGEND_STEPS - 1))]!);
    return `${color} ${(100 * i) / LEGEND_STEPS}% ${(100 * (i + 1)) / LEGEND_STEPS}%`;
  });
  const middle = (part: number) => ({ left: `${part * 100}%`, transform: part === 0 ? "" : "translateX(-50%)" });
  return (
    <div class="heat-legend">
      <span class="heat-ramp" style={{ backgroundImage: `linear-gradient(90deg, ${stops.join(", ")})` }} />
      {heat.ticks(5).map(({ part, text }) => (
        <small key={part} style={part === 1 ? { right: "0" } : middle(part)}>{text}</small>
      ))}
    </div>
  );
}
