// A cursor over bytes for the encodings of docs/reference/capture-format.md: varint, signed (zigzag), text. Reading
// past the end, or a number that is too long, does not throw: it sets `bad` and returns 0 from then on, so that a
// caller reads what it needs and checks once. A length beyond the remaining bytes never causes an allocation.

const utf8 = new TextDecoder("utf-8"); // invalid bytes become U+FFFD

export class ByteReader {
  at = 0;
  bad = false;

  constructor(readonly bytes: Uint8Array) {}

  get left(): number {
    return this.bytes.length - this.at;
  }

  byte(): number {
    if (this.left < 1) return this.fail();
    return this.bytes[this.at++] ?? 0;
  }

  /** A varint that must be a safe integer: counts and lengths. */
  count(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return Number.isSafeInteger(value) ? value : this.fail();
      scale *= 128;
    }
    return this.fail();
  }

  /** A zigzag varint of up to 64 bits. */
  signed(): bigint {
    let bits = 0n;
    for (let i = 0n; i < 70n; i += 7n) {
      const byte = this.byte();
      bits |= BigInt(byte & 0x7f) << i;
      if (byte < 0x80) return BigInt.asIntN(64, (bits >> 1n) ^ -(bits & 1n));
    }
    this.fail();
    return 0n;
  }

  /** A view of the next `length` bytes; empty if fewer remain. */
  take(length: number): Uint8Array {
    if (length > this.left) {
      this.fail();
      return this.bytes.subarray(0, 0);
    }
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  text(): string {
    return utf8.decode(this.take(this.count()));
  }

  private fail(): number {
    this.bad = true;
    this.at = this.bytes.length;
    return 0;
  }
}
