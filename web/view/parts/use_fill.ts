// The colour of a code in the current theme, as on the timeline.

import { css, DARK, LIGHT } from "../../draw/theme.ts";
import { useTheme } from "../page/theme_switch.tsx";

export function useFill(): (code: number) => string {
  const colors = useTheme() === "dark" ? DARK : LIGHT;
  return (code) => css(colors.fills[code] ?? colors.quiet);
}
