// A square in the colour of a code, with its letter, in the current theme.

import { css, DARK, LIGHT } from "../../draw/theme.ts";
import { useTheme } from "../page/theme_switch.tsx";

export function Swatch({ code, letter }: { code: number; letter: string }) {
  const colors = useTheme() === "dark" ? DARK : LIGHT;
  const style = { background: css(colors.fills[code] ?? colors.quiet), color: css(colors.onSlice) };
  return <span class="swatch" aria-hidden="true" style={style}>{letter}</span>;
}
