// Values of JSON that may come from an untrusted file: what is missing or of another type becomes an empty value, so
// that no reader has to check.

export type Json = Record<string, unknown>;

export const object = (value: unknown): Json => (value !== null && typeof value === "object" ? (value as Json) : {});
export const array = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const list = (value: unknown): Json[] => array(value).map(object);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const maybeText = (value: unknown): string | null => (typeof value === "string" ? value : null);
export const maybeNumber = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;
export const number = (value: unknown): number => maybeNumber(value) ?? 0;
