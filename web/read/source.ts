// Where a document comes from: the page itself (single_file.ts) or the program that serves it (server.ts). Both hand
// out the manifest's text and blobs by number; failures are rejected promises with one line for the reader.

export interface Source {
  manifest(): Promise<string>;
  /** The blobs in the order asked. */
  blobs(ids: readonly number[]): Promise<Uint8Array[]>;
}
