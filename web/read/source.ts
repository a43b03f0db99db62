// Where documents come from: the page itself (single_file.ts) or the program that serves it (server.ts). Both hand
// out a manifest's text and blobs by number; failures are rejected promises with one line for the reader.

export interface Source {
  manifest(): Promise<string>;
  /** The blobs in the order asked. */
  blobs(ids: readonly number[]): Promise<Uint8Array[]>;
}

/** What a page holds: a document, and perhaps one that it is compared with. */
export interface Sources {
  document: Source;
  base: Source; // to be read when there is a comparison
  /** JSON of `compare`; null when nothing is compared. */
  comparison(): Promise<string | null>;
}
