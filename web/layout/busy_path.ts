// The busy share of equal slices of time as the outline of an area, one unit wide per slice and one unit high. Shares
// too small to see keep a minimum height.

const MIN_HEIGHT = 0.03;

export function busyPath(shares: readonly number[]): string {
  const parts = ["M0 1"];
  let last = 0;
  shares.forEach((share, i) => {
    const height = share > 0 ? Math.max(MIN_HEIGHT, Math.min(1, share)) : 0;
    if (height !== last) parts.push(`H${i}V${round(1 - height)}`);
    last = height;
  });
  parts.push(`H${shares.length}V1Z`);
  return parts.join("");
}

const round = (value: number): number => Math.round(value * 1000) / 1000;
