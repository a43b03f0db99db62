// The decoded contents of a document: chunks of slices and values, rows of tables, texts. Drawing uses `slices` and
// `values`, which return at once: either the chunk, or nothing while a load starts, after which the listeners of
// `onLoad` draw again. Measuring and searching await `loadSlices`. The least recently used chunks are evicted when the
// cache is full. Blobs requested in the same turn travel in one request.

import { fail, ok, type Result } from "../../read/result.ts";
import { readPayload, type Payload } from "../../read/payload.ts";
import type { Source } from "../../read/source.ts";
import { readSlices, type Slices } from "./slices.ts";
import type { Strings } from "./strings.ts";
import { readValues, type Values } from "./values.ts";

type Decoded = Slices | Values | Payload;
type Decode<T> = (payload: Payload) => Result<T>;

// Of decoded arrays: a tab that reads all of ten million events stays below 500 MB.
const CACHE_BYTES = 64 * 1024 * 1024;

export class Chunks {
  private readonly listeners = new Set<() => void>();
  /** Called once per unreadable blob, with a one-line message. */
  onError: (problem: string) => void = () => {};

  private readonly decoded = new Map<number, Decoded>(); // in order of use, most recent last
  private readonly loading = new Map<number, Promise<Decoded | null>>();
  private readonly broken = new Set<number>();
  private cachedBytes = 0;
  private queue: { id: number; resolve: (bytes: Promise<Uint8Array>) => void }[] = [];

  constructor(
    private readonly source: Source,
    private readonly strings: Strings,
  ) {}

  get isLoading(): boolean {
    return this.loading.size > 0;
  }

  slices(id: number): Slices | null {
    return this.now(id, this.decodeSlices);
  }

  values(id: number): Values | null {
    return this.now(id, readValues);
  }

  /** Calls the listener after each load, until the returned function is called. */
  onLoad(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }

  /** null if the blob cannot be read; `onError` has the reason. */
  async loadSlices(id: number): Promise<Slices | null> {
    return this.load(id, this.decodeSlices);
  }

  async loadValues(id: number): Promise<Values | null> {
    return this.load(id, readValues);
  }

  async loadPayload(id: number): Promise<Payload | null> {
    return this.load(id, ok);
  }

  async bytes(id: number): Promise<Uint8Array> {
    return new Promise((resolve) => {
      if (this.queue.push({ id, resolve }) === 1) queueMicrotask(() => this.fetch());
    });
  }

  private readonly decodeSlices: Decode<Slices> = (payload) => readSlices(payload, this.strings);

  private now<T extends Decoded>(id: number, decode: Decode<T>): T | null {
    const chunk = this.decoded.get(id) as T | undefined;
    if (chunk === undefined) {
      if (!this.broken.has(id)) void this.load(id, decode).then(() => this.notify());
      return null;
    }
    this.decoded.delete(id);
    this.decoded.set(id, chunk);
    return chunk;
  }

  private load<T extends Decoded>(id: number, decode: Decode<T>): Promise<T | null> {
    const loaded = this.decoded.get(id) as T | undefined;
    if (loaded !== undefined) return Promise.resolve(loaded);
    if (this.broken.has(id)) return Promise.resolve(null);
    let promise = this.loading.get(id) as Promise<T | null> | undefined;
    if (promise === undefined) {
      promise = this.read(id, decode);
      this.loading.set(id, promise);
    }
    return promise;
  }

  private async read<T extends Decoded>(id: number, decode: Decode<T>): Promise<T | null> {
    const chunk = await this.decode(id, decode);
    this.loading.delete(id);
    if (!this.isLoading) queueMicrotask(() => this.notify()); // also after reads that nobody draws
    if (!chunk.ok) {
      this.broken.add(id);
      this.onError(`cannot read part ${id} of the recording: ${chunk.error}`);
      return null;
    }
    this.decoded.set(id, chunk.value);
    this.cachedBytes += size(chunk.value);
    for (const [old, other] of this.decoded) {
      if (this.cachedBytes <= CACHE_BYTES || old === id) break;
      this.decoded.delete(old);
      this.cachedBytes -= size(other);
    }
    return chunk.value;
  }

  private async decode<T>(id: number, decode: Decode<T>): Promise<Result<T>> {
    try {
      const payload = readPayload(await this.bytes(id));
      return payload.ok ? decode(payload.value) : payload;
    } catch (error) {
      return fail(error instanceof Error ? error.message : String(error));
    }
  }

  private fetch(): void {
    const queue = this.queue;
    this.queue = [];
    const blobs = this.source.blobs(queue.map((one) => one.id));
    queue.forEach((one, i) => one.resolve(blobs[i] ?? Promise.reject(new Error("missing from the reply"))));
  }
}

function size(chunk: Decoded): number {
  return "bytes" in chunk ? chunk.bytes : chunk.rows * chunk.columns.size * 12;
}
