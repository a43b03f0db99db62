// Stacked areas of values that hold until the next one, as paths of an SVG.

/** One path for each layer, the lowest first. `values[layer][i]` holds from `xs[i]` to `xs[i + 1]`, the last one to
    `end`. */
export function stackedAreas(
  xs: readonly number[], values: readonly (readonly number[])[], end: number, y: (sum: number) => number,
): string[] {
  const at = (value: number) => value.toFixed(1);
  let below = xs.map(() => 0);
  return values.map((layer) => {
    const above = below.map((sum, i) => sum + (layer[i] ?? 0));
    const there = above.map((sum, i) => (i === 0 ? `M${at(xs[i]!)} ` : `H${at(xs[i]!)}V`) + at(y(sum)));
    const back = below.map((sum, i) => `V${at(y(sum))}H${at(xs[i]!)}`).reverse();
    below = above;
    return xs.length === 0 ? "" : `${there.join("")}H${at(end)}${back.join("")}Z`;
  });
}
