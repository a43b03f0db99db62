// Splits framed blobs: for each blob a u32 (little endian) length, then its bytes; consecutive. What it gives are views
// of the buffer it was given, not copies.

import { done, failed, type Outcome } from "./outcome.ts";

export function splitFrames(bytes: Uint8Array, count: number): Outcome<Uint8Array[]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blobs: Uint8Array[] = [];
  let at = 0;
  while (blobs.length < count) {
    if (at + 4 > bytes.length) return failed(`blobs: ${count} promised, ${blobs.length} there`);
    const length = view.getUint32(at, true);
    at += 4;
    if (length > bytes.length - at) return failed(`blobs: ${length} bytes promised, ${bytes.length - at} there`);
    blobs.push(bytes.subarray(at, at + length));
    at += length;
  }
  return done(blobs);
}
