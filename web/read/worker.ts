// The worker's side of a single file: receives the text of a segment, returns its bytes without copying them.

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
  scope.onmessage = async ({ data }) => {
    try {
      const bytes = await decodeSegment(data.text);
      scope.postMessage({ id: data.id, bytes }, [bytes.buffer]);
    } catch (error) {
      scope.postMessage({ id: data.id, error: error instanceof Error ? error.message : String(error) });
    }
  };
}
