// The worker's side of a single file: gets the text of a segment, gives its bytes back without copying them.

import { decodeSegment } from "./segment.ts";

export interface SegmentRequest {
  segment: number;
  text: string;
}
export type SegmentReply = { segment: number; bytes: Uint8Array } | { segment: number; error: string };

interface WorkerScope {
  onmessage: ((event: MessageEvent<SegmentRequest>) => void) | null;
  postMessage(message: SegmentReply, transfer?: Transferable[]): void;
}

export function runWorker(scope: WorkerScope): void {
  scope.onmessage = async ({ data }) => {
    try {
      const bytes = await decodeSegment(data.text);
      scope.postMessage({ segment: data.segment, bytes }, [bytes.buffer]);
    } catch (error) {
      scope.postMessage({ segment: data.segment, error: error instanceof Error ? error.message : String(error) });
    }
  };
}
