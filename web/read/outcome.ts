// What a reader hands back: a value, or one line that says what is wrong. Readers see bytes of strangers, so failure is
// an ordinary result here and never an exception.

export type Outcome<T> = { ok: true; value: T } | { ok: false; error: string };

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value });
export const failed = (error: string): Outcome<never> => ({ ok: false, error });
