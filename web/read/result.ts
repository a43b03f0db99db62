// The result of a reader: a value, or a one-line error message. Readers process untrusted bytes, so failure is an
// ordinary result here and never an exception.

export type Result<T> = { ok: true; value: T } | { ok: false; error: string };

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });
export const fail = (error: string): Result<never> => ({ ok: false, error });
