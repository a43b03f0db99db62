// Reads a payload of the capture format (docs/reference/capture-format.md, "Payload") as the viewer receives it: the
// sections are uncompressed, that is, front stored = front raw and values stored = values raw.
//
//   | table | rows | front raw | front stored | values raw | values stored | front | values | padding |
//
// The bytes may be damaged or hostile: every length is checked against the bytes available, rows against the guarantee
// of the format (length >= rows - 256), and every mismatch is a one-line error.

import { ByteReader } from "./bytes.ts";
import { Column, TYPES } from "./column.ts";
import { fail, ok, type Result } from "./result.ts";

export interface Payload {
  table: string;
  rows: number;
  columns: Map<string, Column>;
}

const FREE_ROWS = 256; // rows that may take no bytes
const MAX_COLUMNS = 4096;

export function readPayload(bytes: Uint8Array): Result<Payload> {
  const reader = new ByteReader(bytes);
  const table = reader.text();
  const rows = reader.count();
  const frontRaw = reader.count();
  const frontStored = reader.count();
  const valuesRaw = reader.count();
  const valuesStored = reader.count();
  if (reader.bad) return fail("payload: truncated header");
  const what = /^\w{1,40}$/.test(table) ? `payload of ${table}` : "payload"; // the name is untrusted, too
  if (frontRaw !== frontStored || valuesRaw !== valuesStored) return fail(`${what}: unexpected compression`);
  if (rows > bytes.length + FREE_ROWS) return fail(`${what}: ${rows} rows in ${bytes.length} bytes`);
  const front = new ByteReader(reader.take(frontStored));
  const values = new ByteReader(reader.take(valuesStored));
  if (reader.bad) return fail(`${what}: truncated sections`);

  const count = front.count();
  if (front.bad || count > MAX_COLUMNS) return fail(`${what}: invalid column list`);
  const columns = new Map<string, Column>();
  for (let i = 0; i < count; i++) {
    const column = readColumn(front, values, rows);
    if (column === null) return fail(`${what}: column ${i} is invalid`);
    if (!columns.has(column.name)) columns.set(column.name, column);
  }
  return ok({ table, rows, columns });
}

function readColumn(front: ByteReader, values: ByteReader, rows: number): Column | null {
  const name = front.text();
  const type = TYPES[front.byte()];
  const unit = front.text();
  const partial = (front.byte() & 1) === 1;
  const validity = partial ? front.take((rows + 7) >> 3) : null;
  const encoding = front.byte();
  const width = front.byte();
  const parameter = front.take(front.count());
  if (front.bad || width > 8) return null;
  const planes = values.take(rows * width);
  if (values.bad) return null;
  return new Column(name, type, unit, rows, validity, encoding, width, parameter, planes);
}
