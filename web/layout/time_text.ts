// Times and amounts as text, always with their unit: three digits for reading at a glance, every nanosecond for exact
// values. Rounding and units match the program's reports (core/base/text/readable.h): ns, us, ms, s; 1 KiB = 1024 B.

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
  if (Number.isInteger(ns) && Math.abs(ns) < 1000) return `${grouped(ns)} ns`;
  const [scale, unit] = UNITS.find(([scale]) => Math.abs(ns) >= scale * ROUNDS_UP) ?? UNITS[3]!;
  return `${digits(ns / scale)} ${unit}`;
}

/** "+12.3 us", "−4 ns": a difference. */
export const signedDuration = (ns: number): string => `${ns < 0 ? "−" : "+"}${duration(Math.abs(ns))}`;

const ROUNDS_UP = 0.9995; // of the next unit: shown as 1.00 of it, not as 1000 of this one

/** Three significant digits; no decimals from 100. */
function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95) return grouped(value.toFixed(0));
  return grouped(value.toFixed(size >= 9.995 ? 1 : 2));
}

/** "1,234,567 ns": exact; means to a thousandth. */
export function exact(ns: number | bigint): string {
  return `${grouped(typeof ns === "number" ? Number(ns.toFixed(3)) : ns)} ns`;
}

/** With a comma between groups of three digits, and a minus sign. */
export function grouped(value: number | bigint | string): string {
  const text = String(value);
  const [, sign, whole, rest] = /^(-?)(\d+)(.*)$/.exec(text) ?? [];
  return whole === undefined ? text : (sign && "−") + whole.replace(/\B(?=(\d{3})+$)/g, ",") + rest;
}

/** A time at a resolution of `step` ns: "12.345 ms", with the decimals that the step needs. */
export function moment(ns: number, step: number, unit = unitFor(Math.max(Math.abs(ns), step))): string {
  const [scale, name] = unit;
  const decimals = Math.max(0, Math.round(Math.log10(scale)) - Math.floor(Math.log10(Math.max(step, 1)) + 1e-9));
  return `${grouped((ns / scale).toFixed(decimals))} ${name}`;
}

export function percent(share: number): string {
  const value = share * 100;
  return `${value > 0 && value < 0.05 ? "<0.1" : value.toFixed(1)} %`;
}

/** "1 event", "2,000 events", "3 launches". */
export function plural(count: number, noun: string): string {
  const ending = /(ch|sh|s|x)$/.test(noun) ? "es" : "s";
  return `${grouped(count)} ${noun}${count === 1 ? "" : ending}`;
}

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB"];
const RATES: ReadonlyMap<string, number> = new Map([["byte/s", 1], ["MB/s", 1e6], ["GB/s", 1e9]]);
const DECIMAL = ["", "k", "M", "G", "T", "P"];

/** A value in the largest unit of the list that is not above it. */
function scaled(value: number, base: number, units: readonly string[], suffix = ""): string {
  let at = 0;
  for (; Math.abs(value) >= base * ROUNDS_UP && at < units.length - 1; at++) value /= base;
  return `${at === 0 && Number.isInteger(value) ? grouped(value) : digits(value)} ${units[at]}${suffix}`;
}

/** A unit as people write it: documents name units in ASCII, and a count has no unit. */
export function unitText(unit: string): string {
  if (unit === "C") return "°C";
  return unit === "count" ? "" : unit;
}

/** A value of a column or a counter with its unit; "–" if absent. */
export function amount(value: number, unit: string | null): string {
  if (!Number.isFinite(value)) return "–";
  if (unit === "ns") return duration(value);
  if (unit === "bytes" || unit === "byte") return scaled(value, 1024, BINARY);
  if (unit === "MiB") return scaled(value * 2 ** 20, 1024, BINARY);
  const rate = RATES.get(unit ?? "");
  if (rate !== undefined) return scaled(value * rate, 1000, DECIMAL, "B/s");
  if (unit === "FLOP" || unit === "FLOP/s") return scaled(value, 1000, DECIMAL, unit);
  return `${fourDigits(value)} ${unitText(unit ?? "")}`.trimEnd();
}

/** Integers whole; others with four significant digits, large ones without decimals. */
export function fourDigits(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return grouped(Math.round(value));
  return grouped(Number(value.toPrecision(4)));
}
