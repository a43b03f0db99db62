// The result of a reader: a value, or a one-line error message. Readers process untrusted bytes, so failure is an
// ordinary result here and never an exception.

export type Outcome<T> = { ok: true; value: T } | { ok: false; error: string };

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value });
export const failed = (error: string): Outcome<never> => ({ ok: false, error });
