// The source of documents: the page itself (single_file.ts) or the program that serves it (server.ts). Both provide the
// manifest's text, and blobs by number; a failure is a promise rejected with a one-line message.

export interface Source {
  manifest(): Promise<string>;
  /** The blobs in the requested order. */
  blobs(ids: readonly number[]): Promise<Uint8Array[]>;
  /** Ranks of a job whose recordings can be opened at /rank/N/; only from the program. */
  recordings?(): Promise<number[]>;
}

/** The documents of a page: one, and possibly its baseline. */
export interface Sources {
  document: Source;
  base: Source; // read only for a comparison
  /** JSON of `compare`; null without a comparison. */
  comparison(): Promise<string | null>;
}
