// Writes payloads (docs/reference/capture-format.md) and framed blobs, for tests and for the benchmark's documents. It
// deliberately uses few encodings: the program's writer uses all, and its documents are tested, too.

export interface Written {
  name: string;
  type: "time" | "dur" | "i64" | "i32" | "f64" | "string";
  unit?: string;
  values: ArrayLike<number | bigint | string | null>;
}

const TYPES = ["time", "dur", "i64", "i32", "f64", "string"];
const utf8 = new TextEncoder();

class Bytes {
  private parts: number[] = [];
  put(...bytes: number[]): this {
    this.parts.push(...bytes);
    return this;
  }
  varint(value: bigint | number): this {
    let rest = BigInt(value);
    while (rest >= 128n) {
      this.parts.push(Number(rest & 127n) | 128);
      rest >>= 7n;
    }
    return this.put(Number(rest));
  }
  signed(value: bigint): this {
    return this.varint(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  }
  raw(bytes: Uint8Array): this {
    for (const byte of bytes) this.parts.push(byte);
    return this;
  }
  text(value: string): this {
    const bytes = utf8.encode(value);
    return this.varint(bytes.length).raw(bytes);
  }
  done(): Uint8Array {
    return Uint8Array.from(this.parts);
  }
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function planes(numbers: readonly bigint[], width: number): Uint8Array {
  const out = new Uint8Array(numbers.length * width);
  numbers.forEach((number, row) => {
    for (let plane = 0; plane < width; plane++)
      out[plane * numbers.length + row] = Number((number >> BigInt(8 * plane)) & 255n);
  });
  return out;
}

const widthOf = (largest: bigint): number => Math.max(1, Math.ceil(largest.toString(16).length / 2));

function encodeColumn(column: Written, rows: number): { front: Uint8Array; values: Uint8Array } {
  const cells = Array.from(column.values);
  const present = cells.map((cell) => cell !== null);
  const front = new Bytes().text(column.name).put(TYPES.indexOf(column.type)).text(column.unit ?? "");
  if (present.every(Boolean)) front.put(0);
  else {
    const bits = new Uint8Array((rows + 7) >> 3);
    present.forEach((set, row) => set && (bits[row >> 3]! |= 1 << (row & 7)));
    front.put(1).raw(bits);
  }
  const finish = (encoding: number, width: number, parameter: Uint8Array, values: Uint8Array) => ({
    front: front.put(encoding, width).varint(parameter.length).raw(parameter).done(),
    values,
  });
  if (column.type === "string") {
    const words = [...new Set(cells.map((cell) => String(cell ?? "")))];
    const index = new Map(words.map((word, i) => [word, BigInt(i)]));
    const width = widthOf(BigInt(words.length - 1));
    const parameter = new Bytes().varint(words.length);
    for (const word of words) parameter.text(word);
    return finish(4, width, parameter.done(), planes(cells.map((cell) => index.get(String(cell ?? ""))!), width));
  }
  if (column.type === "f64") {
    const bits = new BigUint64Array(Float64Array.from(cells, (cell) => Number(cell ?? 0)).buffer);
    return finish(5, 8, new Uint8Array(), planes([...bits], 8));
  }
  const numbers = cells.map((cell) => BigInt(cell ?? 0));
  const base = numbers.reduce((least, n) => (n < least ? n : least), numbers[0] ?? 0n);
  const offsets = numbers.map((n) => n - base);
  const width = widthOf(offsets.reduce((most, n) => (n > most ? n : most), 0n));
  return finish(1, width, new Bytes().signed(base).done(), planes(offsets, width));
}

export function encodePayload(table: string, rows: number, columns: readonly Written[]): Uint8Array {
  const encoded = columns.map((column) => encodeColumn(column, rows));
  const front = concat([new Bytes().varint(columns.length).done(), ...encoded.map((e) => e.front)]);
  const values = concat(encoded.map((e) => e.values));
  const head = new Bytes().text(table).varint(rows);
  for (const section of [front, values]) head.varint(section.length).varint(section.length);
  const body = concat([head.done(), front, values]);
  const padding = Math.max(0, rows - 256 - body.length);
  return concat([body, new Uint8Array(padding)]);
}

export function frame(blobs: readonly Uint8Array[]): Uint8Array {
  return concat(
    blobs.flatMap((blob) => {
      const length = new Uint8Array(4);
      new DataView(length.buffer).setUint32(0, blob.length, true);
      return [length, blob];
    }),
  );
}
