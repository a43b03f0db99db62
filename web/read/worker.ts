// The worker's side of a single file: receives the text of a segment, returns its bytes without copying them. Segments
// are decoded one after the other, so that the page reads the first while the next is decoded.

import { decodeSegment } from "./segment.ts";

export interface SegmentRequest {
  id: number; // returned with the answer
  text: string;
}
export type SegmentReply = { id: number; bytes: Uint8Array } | { id: number; error: string };

interface WorkerScope {
  onmessage: ((event: MessageEvent<SegmentRequest>) => void) | null;
  postMessage(message: SegmentReply, transfer?: Transferable[]): void;
}

export function runWorker(scope: WorkerScope): void {
  let last = Promise.resolve();
  scope.onmessage = ({ data }) => {
    last = last.then(() => answer(scope, data));
  };
}

async function answer(scope: WorkerScope, { id, text }: SegmentRequest): Promise<void> {
  try {
    const bytes = await decodeSegment(text);
    scope.postMessage({ id, bytes }, [bytes.buffer]);
  } catch (error) {
    scope.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
}
