// Colour, dash and letter of each level of memory, the same in every picture. Dashes and letters distinguish levels
// without colour.

import { FIRST_HUE } from "./colors.ts";

interface LevelStyle {
  code: number;
  dash: string; // of an SVG stroke
}

const STYLES: Readonly<Record<string, LevelStyle>> = {
  DRAM: { code: FIRST_HUE + 1, dash: "" },
  L2: { code: FIRST_HUE + 6, dash: "7 3" },
  L1: { code: FIRST_HUE + 10, dash: "2 3" },
};

export const levelCode = (level: string): number => STYLES[level]?.code ?? FIRST_HUE;
export const levelDash = (level: string): string => STYLES[level]?.dash ?? "";
