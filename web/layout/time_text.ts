// Times and amounts as text, always with their unit: three digits for reading at a glance, every nanosecond for exact
// values. Units match the program's reports: ns, us, ms, s; 1 KiB = 1024 bytes.

const UNITS: readonly [scale: number, unit: string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "us"],
  [1, "ns"],
];

/** The unit for a number of nanoseconds: the largest unit not above it. */
export function unitFor(ns: number): readonly [scale: number, unit: string] {
  return UNITS.find(([scale]) => Math.abs(ns) >= scale) ?? UNITS[3]!;
}

/** "12.3 us": three digits. */
export function duration(ns: number): string {
  if (!Number.isFinite(ns)) return "–";
  let [scale, unit] = unitFor(ns);
  const shown = digits(Math.abs(ns) / scale);
  const next = UNITS.find(([, name]) => name === unit)!;
  const at = UNITS.indexOf(next);
  if (shown === "1000" && at > 0) [scale, unit] = UNITS[at - 1]!;
  return `${ns < 0 ? "-" : ""}${shown === "1000" && at > 0 ? "1.00" : shown} ${unit}`;
}

function digits(value: number): string {
  if (Number.isInteger(value) && value < 1000) return String(value);
  return value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

/** "1,234,567 ns": exact. */
export function exact(ns: number | bigint): string {
  return `${grouped(ns)} ns`;
}

export function grouped(value: number | bigint): string {
  const text = String(value);
  const [, sign, whole, rest] = /^(-?)(\d+)(.*)$/.exec(text) ?? [];
  return whole === undefined ? text : sign + whole.replace(/\B(?=(\d{3})+$)/g, ",") + rest;
}

/** A time at a resolution of `step` ns: "12.345 ms", with the decimals that the step needs. */
export function moment(ns: number, step: number, unit = unitFor(Math.max(Math.abs(ns), step))): string {
  const [scale, name] = unit;
  const decimals = Math.max(0, Math.round(Math.log10(scale)) - Math.floor(Math.log10(Math.max(step, 1)) + 1e-9));
  return `${(ns / scale).toFixed(decimals)} ${name}`;
}

export function percent(share: number): string {
  const value = share * 100;
  return `${value > 0 && value < 0.05 ? "<0.1" : value.toFixed(1)} %`;
}

/** "1 event", "2,000 events", "3 launches". */
export function plural(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : /(ch|sh|s|x)$/.test(noun) ? "es" : "s"}`;
}

const BINARY = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** A value of a column or a counter with its unit; "–" if absent. */
export function amount(value: number, unit: string | null): string {
  if (!Number.isFinite(value)) return "–";
  if (unit === "ns") return duration(value);
  if (unit === "bytes") {
    let at = 0;
    while (Math.abs(value) >= 1024 && at < BINARY.length - 1) {
      value /= 1024;
      at++;
    }
    return `${at === 0 ? grouped(value) : digits(value)} ${BINARY[at]}`;
  }
  const text = Number.isInteger(value) ? grouped(value) : Math.abs(value) >= 1000 ? grouped(Math.round(value)) : String(Number(value.toPrecision(4)));
  return unit === null || unit === "" || unit === "count" ? text : `${text} ${unit}`;
}
