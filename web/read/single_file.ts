// A document inside the page: <script id="manifest"> and one <script class="segment" data-first data-count> for each
// run of blobs; "base-" before both names for the baseline. A segment is decoded in a worker when one of its blobs is
// first requested, and evicted when memory is needed and others were used since; its text stays in the page.

import { splitFrames } from "./frames.ts";
import { decodeSegment } from "./segment.ts";
import type { Source, Sources } from "./source.ts";
import type { SegmentReply, SegmentRequest } from "./worker.ts";

const KEEP_BYTES = 256 * 1024 * 1024; // limit for decoded segments in memory

interface Segment {
  first: number;
  count: number;
  element: Element;
  blobs: Promise<Uint8Array[]> | null;
  bytes: number;
}

type Decode = (text: string) => Promise<Uint8Array>;

export function hasDocument(page: Document): boolean {
  return page.getElementById("manifest") !== null;
}

export function pageSources(page: Document, decode: Decode): Sources {
  return {
    document: new SingleFile(page, "", decode),
    base: new SingleFile(page, "base-", decode),
    prepared: async () => true,
    comparison: async () => page.getElementById("comparison")?.textContent ?? null,
  };
}

class SingleFile implements Source {
  private readonly segments: Segment[];
  private used: Segment[] = []; // most recent last

  constructor(
    private readonly page: Document,
    private readonly prefix: string,
    private readonly decode: Decode,
  ) {
    this.segments = [...page.querySelectorAll(`script.${prefix}segment`)].map((element) => ({
      first: Number(element.getAttribute("data-first")),
      count: Number(element.getAttribute("data-count")),
      element,
      blobs: null,
      bytes: 0,
    }));
  }

  async manifest(): Promise<string> {
    return this.page.getElementById(`${this.prefix}manifest`)?.textContent ?? "";
  }

  blobs(ids: readonly number[]): Promise<Uint8Array>[] {
    return ids.map((id) => this.blob(id));
  }

  private async blob(id: number): Promise<Uint8Array> {
    const segment = this.segments.find((s) => id >= s.first && id < s.first + s.count);
    if (segment === undefined) throw new Error(`blob ${id} is not in this file`);
    segment.blobs ??= this.load(segment);
    this.used = this.used.filter((other) => other !== segment);
    this.used.push(segment);
    const blob = (await segment.blobs)[id - segment.first];
    if (blob === undefined) throw new Error(`blob ${id} is missing`);
    return blob;
  }

  private async load(segment: Segment): Promise<Uint8Array[]> {
    const bytes = await this.decode(segment.element.textContent ?? "");
    const blobs = splitFrames(bytes, segment.count);
    if (!blobs.ok) throw new Error(blobs.error);
    segment.bytes = bytes.length;
    this.drop();
    return blobs.value;
  }

  private drop(): void {
    let held = this.used.reduce((sum, segment) => sum + segment.bytes, 0);
    while (held > KEEP_BYTES && this.used.length > 1) {
      const oldest = this.used.shift()!;
      held -= oldest.bytes;
      oldest.blobs = null;
      oldest.bytes = 0;
    }
  }
}

/** Decodes in a worker that runs the page's script, or on the page's thread if workers are unavailable. */
export function workerDecoder(script: string): Decode {
  const waiting = new Map<number, { done: (bytes: Uint8Array) => void; fail: (error: Error) => void }>();
  let worker: Worker;
  try {
    worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  } catch {
    return decodeSegment;
  }
  worker.onmessage = ({ data }: MessageEvent<SegmentReply>) => {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if ("bytes" in data) asked?.done(data.bytes);
    else asked?.fail(new Error(data.error));
  };
  worker.onerror = (event) => {
    for (const asked of waiting.values()) asked.fail(new Error(event.message || "cannot start the decoder"));
    waiting.clear();
  };
  let asked = 0;
  return (text) =>
    new Promise((done, fail) => {
      const id = asked++;
      waiting.set(id, { done, fail });
      worker.postMessage({ id, text } satisfies SegmentRequest);
    });
}
