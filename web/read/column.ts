// One column of a payload: docs/reference/capture-format.md, "Payload". Numbers are decoded on first use, so that a
// payload with thousands of unused columns costs nothing. Integers become doubles if every value is exact as a double
// (all times are), otherwise 64-bit integers (correlation ids of some tools).
//
// Invariant: a decoded column has exactly `rows` entries. A column of unknown type or encoding decodes to null.

import { ByteReader } from "./bytes.ts";

export const TYPES = ["time", "dur", "i64", "i32", "f64", "string"] as const;
export type ColumnType = (typeof TYPES)[number];

export type Cells =
  | { kind: "number"; values: Float64Array }
  | { kind: "bigint"; values: BigInt64Array }
  | { kind: "text"; codes: Uint32Array; words: string[] };

export type Value = number | bigint | string | null;

export class Column {
  private decoded: Cells | null | undefined;

  constructor(
    readonly name: string,
    readonly type: ColumnType | undefined,
    readonly unit: string,
    readonly rows: number,
    private readonly validity: Uint8Array | null,
    private readonly encoding: number,
    private readonly width: number,
    private readonly parameter: Uint8Array,
    private readonly planes: Uint8Array,
  ) {}

  /** Whether every row has a value. */
  get isWhole(): boolean {
    return this.validity === null;
  }

  has(row: number): boolean {
    if (row < 0 || row >= this.rows) return false;
    return this.validity === null || (((this.validity[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
  }

  cells(): Cells | null {
    if (this.decoded === undefined) this.decoded = this.decode();
    return this.decoded;
  }

  /** The value of a row; null if absent or unreadable. */
  value(row: number): Value {
    const cells = this.has(row) ? this.cells() : null;
    if (cells === null) return null;
    if (cells.kind === "text") return cells.words[cells.codes[row] ?? 0] ?? null;
    return cells.values[row] ?? null;
  }

  private decode(): Cells | null {
    if (this.type === undefined) return null;
    if (this.type === "string") return this.texts();
    return this.type === "f64" ? this.reals() : this.integers();
  }

  private texts(): Cells | null {
    const reader = new ByteReader(this.parameter);
    const codes = new Uint32Array(this.rows);
    if (this.encoding === 0) {
      const word = reader.text();
      return reader.bad ? null : { kind: "text", codes, words: [word] };
    }
    if (this.encoding !== 4 || this.width < 1 || this.width > 4) return null;
    const words = entries(reader, () => reader.text());
    if (words === null) return null;
    this.lowNumbers(codes);
    return largest(codes) >= words.length ? null : { kind: "text", codes, words };
  }

  private reals(): Cells | null {
    const bits = new DataView(new ArrayBuffer(8));
    if (this.encoding === 0) {
      const reader = new ByteReader(this.parameter);
      bits.setBigInt64(0, reader.signed());
      return reader.bad ? null : { kind: "number", values: new Float64Array(this.rows).fill(bits.getFloat64(0)) };
    }
    if (this.encoding !== 5 || this.width !== 8) return null;
    const values = new Float64Array(this.rows);
    const bytes = new Uint8Array(values.buffer);
    for (let plane = 0; plane < 8; plane++)
      for (let row = 0; row < this.rows; row++) bytes[row * 8 + plane] = this.planes[plane * this.rows + row] ?? 0;
    return { kind: "number", values };
  }

  private integers(): Cells | null {
    const values = this.safeIntegers();
    if (values !== null) return { kind: "number", values };
    const long = this.longIntegers();
    return long === null ? null : { kind: "bigint", values: long };
  }

  /** The stored unsigned numbers as doubles; exact up to 6 bytes, and beyond while they are small. */
  private unsigned(): Float64Array {
    const { rows, planes, width } = this;
    const numbers = new Float64Array(rows);
    this.lowNumbers(numbers);
    for (let plane = 4, scale = 2 ** 32; plane < width; plane++, scale *= 256)
      for (let row = 0, at = plane * rows; row < rows; row++, at++) numbers[row]! += planes[at]! * scale;
    return numbers;
  }

  /** The lowest four bytes of the stored numbers. A loop for each width, because most time of a chunk is spent here. */
  private lowNumbers(numbers: Float64Array | Uint32Array): void {
    const { rows, planes, width } = this;
    const [b, c, d] = [rows, 2 * rows, 3 * rows];
    if (width === 1) numbers.set(planes.subarray(0, rows));
    else if (width === 2) for (let row = 0; row < rows; row++) numbers[row] = planes[row]! | (planes[b + row]! << 8);
    else if (width === 3)
      for (let row = 0; row < rows; row++)
        numbers[row] = planes[row]! | (planes[b + row]! << 8) | (planes[c + row]! << 16);
    else if (width > 3)
      for (let row = 0; row < rows; row++)
        numbers[row] =
          (planes[row]! | (planes[b + row]! << 8) | (planes[c + row]! << 16) | (planes[d + row]! << 24)) >>> 0;
  }

  /** null if a value, or a step to it, is not exact as a double. */
  private safeIntegers(): Float64Array | null {
    const { rows, encoding } = this;
    const reader = new ByteReader(this.parameter);
    if (encoding === 4) {
      const words = entries(reader, () => Number(reader.signed()));
      if (words === null || !words.every(Number.isSafeInteger) || this.width > 4) return null;
      const numbers = this.unsigned();
      if (largest(numbers) >= words.length) return null;
      for (let row = 0; row < rows; row++) numbers[row] = words[numbers[row]!]!;
      return numbers;
    }
    const base = Number(reader.signed());
    if (reader.bad || encoding > 3 || !Number.isSafeInteger(base)) return null;
    if (encoding === 0) return new Float64Array(rows).fill(base);
    const numbers = this.unsigned();
    if (this.width > 6 && !Number.isSafeInteger(largest(numbers))) return null;
    if (encoding === 1) {
      for (let row = 0; row < rows; row++) numbers[row]! += base;
      return Number.isSafeInteger(largest(numbers)) ? numbers : null;
    }
    let value = base;
    for (let row = 0; row < rows; row++) {
      const number = numbers[row]!;
      const signed = number % 2 === 0 ? number / 2 : -(number + 1) / 2; // zigzag
      value += encoding === 2 ? number : signed;
      if (!Number.isSafeInteger(value)) return null;
      numbers[row] = value;
    }
    return numbers;
  }

  /** The same in 64-bit arithmetic, modulo 2^64 as the format says. */
  private longIntegers(): BigInt64Array | null {
    const reader = new ByteReader(this.parameter);
    const values = new BigInt64Array(this.rows);
    const number = (row: number): bigint => {
      let bits = 0n;
      for (let plane = this.width - 1; plane >= 0; plane--)
        bits = (bits << 8n) | BigInt(this.planes[plane * this.rows + row] ?? 0);
      return bits;
    };
    if (this.encoding === 4) {
      const words = entries(reader, () => reader.signed());
      if (words === null || this.width > 4) return null;
      for (let row = 0; row < this.rows; row++) {
        const word = words[Number(number(row))];
        if (word === undefined) return null;
        values[row] = word;
      }
      return values;
    }
    const base = reader.signed();
    if (reader.bad || this.encoding > 3) return null;
    let before = base;
    for (let row = 0; row < this.rows; row++) {
      const bits = this.encoding === 0 ? 0n : number(row);
      const step = this.encoding === 3 ? (bits >> 1n) ^ -(bits & 1n) : bits;
      before = BigInt.asIntN(64, (this.encoding === 1 ? base : before) + step);
      values[row] = before;
    }
    return values;
  }
}

/** The entries of a dictionary; each takes at least a byte, so the count cannot exceed the remaining bytes. */
function entries<T>(reader: ByteReader, read: () => T): T[] | null {
  const count = reader.count();
  if (count > reader.left) return null;
  const words: T[] = [];
  for (let i = 0; i < count && !reader.bad; i++) words.push(read());
  return reader.bad ? null : words;
}

/** -1 of none. */
function largest(numbers: Float64Array | Uint32Array): number {
  let most = -1;
  for (let row = 0; row < numbers.length; row++) if (numbers[row]! > most) most = numbers[row]!;
  return most;
}
