// The source of documents: the page itself (single_file.ts) or the program that serves it (server.ts). Both provide the
// manifest's text, and blobs by number; a failure is a promise rejected with a one-line message.

import type { Part, Progress } from "./preparation.ts";
import type { SqlServer } from "./sql_client.ts";

export interface Source {
  manifest(): Promise<string>;
  /** The blobs in the requested order, each as soon as it has arrived. */
  blobs(ids: readonly number[]): Promise<Uint8Array>[];
  /** Ranks of a job whose recordings can be opened at /rank/N/; only from the program. */
  recordings?(): Promise<number[]>;
  /** SQL over the document; only from the program. */
  sql?: SqlServer;
}

/** The documents of a page: one, and possibly its baseline. */
export interface Sources {
  document: Source;
  base: Source; // read only for a comparison
  /** JSON of `compare`; null without a comparison. */
  comparison(): Promise<string | null>;
  /** Waits until the documents can be read, or this part of the first; rejected with the reason if they cannot.
      Whether the answer is there. */
  prepared(part: Part, show: (progress: Progress) => void): Promise<boolean>;
}
