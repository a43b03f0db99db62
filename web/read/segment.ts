// A segment of a single file: base64 of gzip of framed blobs. Decoded in the worker, so that the page stays responsive.
// The decompressed size is limited, because a few kilobytes of gzip can expand to gigabytes.

const MAX_SEGMENT = 512 * 1024 * 1024; // bytes after decompression; the program makes segments of about 256 KiB

// In browsers since 2025.
const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array }).fromBase64?.bind(Uint8Array);

export function decodeBase64(text: string): Uint8Array {
  if (native) return native(text);
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function inflate(compressed: Uint8Array, limit = MAX_SEGMENT): Promise<Uint8Array> {
  const stream = new Blob([compressed as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
  const reader = stream.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > limit) {
      await reader.cancel();
      throw new Error(`a segment exceeds ${limit} bytes`);
    }
    parts.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export async function decodeSegment(text: string): Promise<Uint8Array> {
  return inflate(decodeBase64(text));
}
