// Splits framed blobs: consecutive blobs, each preceded by its length as u32 (little endian). Returns views of the
// given buffer, not copies.

import { fail, ok, type Result } from "./result.ts";

export function splitFrames(bytes: Uint8Array, count: number): Result<Uint8Array[]> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blobs: Uint8Array[] = [];
  let at = 0;
  while (blobs.length < count) {
    if (at + 4 > bytes.length) return fail(`blobs: expected ${count}, found ${blobs.length}`);
    const length = view.getUint32(at, true);
    at += 4;
    if (length > bytes.length - at) return fail(`blobs: expected ${length} bytes, found ${bytes.length - at}`);
    blobs.push(bytes.subarray(at, at + length));
    at += length;
  }
  return ok(blobs);
}
