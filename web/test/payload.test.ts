// The decoder against the worked example of docs/reference/capture-format.md, against the encoder, and against damaged
// bytes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import test from "node:test";
import type { Column } from "../read/column.ts";
import { readPayload, type Payload } from "../read/payload.ts";
import { encodePayload } from "./encode.ts";

function must(bytes: Uint8Array): Payload {
  const read = readPayload(bytes);
  assert.ok(read.ok, read.ok ? "" : read.error);
  return read.value;
}

const values = (column: Column | undefined) =>
  Array.from({ length: column?.rows ?? 0 }, (_, row) => column!.value(row));

/** The bytes of the table chunk's payload, out of the documentation. */
function documented(): Uint8Array {
  const page = readFileSync(resolve(process.env.WEB_ROOT ?? "", "..", "docs/reference/capture-format.md"), "utf8");
  const hex = page.split("```hex")[1]!.split("```")[0]!;
  const bytes = hex.split("\n").flatMap((line) => line.trim().split(/\s+/).slice(1).map((byte) => parseInt(byte, 16)));
  return Uint8Array.from(bytes).subarray(0x7a, 0x7a + 87);
}

test("the documented example", () => {
  const payload = must(documented());
  assert.equal(payload.table, "kernel");
  assert.equal(payload.rows, 4);
  assert.deepEqual(values(payload.columns.get("start")), [1000, 1500, 1900, 2600]);
  assert.deepEqual(values(payload.columns.get("name")), ["gemm", "relu", "gemm", "relu"]);
  assert.deepEqual(values(payload.columns.get("registers")), [64, null, 64, null]);
  assert.equal(payload.columns.get("start")?.unit, "ns");
});

test("payloads round-trip", () => {
  const big = 2n ** 63n - 1n;
  const payload = must(
    encodePayload("t", 3, [
      { name: "time", type: "time", values: [0, 2 ** 52, null] },
      { name: "id", type: "i64", values: [big, -big, 0n] },
      { name: "x", type: "f64", values: [0.1, -Infinity, null] },
      { name: "s", type: "string", values: ["<b>", null, "\u{1f600}"] },
    ]),
  );
  assert.deepEqual(values(payload.columns.get("time")), [0, 2 ** 52, null]);
  assert.deepEqual(values(payload.columns.get("id")), [big, -big, 0n]);
  assert.deepEqual(values(payload.columns.get("x")), [0.1, -Infinity, null]);
  assert.deepEqual(values(payload.columns.get("s")), ["<b>", null, "\u{1f600}"]);
});

/** A payload of one column with these parts. */
function one(
  type: number, encoding: number, width: number, parameter: number[], planes: number[], rows: number,
): Uint8Array {
  const front = [1, 1, 0x63, type, 0, 0, encoding, width, parameter.length, ...parameter];
  const lengths = [front.length, front.length, planes.length, planes.length];
  return Uint8Array.from([1, 0x74, rows, ...lengths, ...front, ...planes]);
}

test("each encoding", () => {
  const read = (...parts: Parameters<typeof one>) => values(must(one(...parts)).columns.get("c"));
  assert.deepEqual(read(2, 0, 0, [9], [], 2), [-5, -5]);
  assert.deepEqual(read(2, 1, 1, [20], [0, 255], 2), [10, 265]);
  assert.deepEqual(read(2, 2, 1, [20], [0, 5, 1], 3), [10, 15, 16]);
  assert.deepEqual(read(2, 3, 1, [20], [1, 4, 0], 3), [9, 11, 11]);
  assert.deepEqual(read(2, 4, 1, [2, 2, 3], [1, 0], 2), [-2, 1]);
  assert.deepEqual(read(5, 0, 0, [1, 0x61], [], 2), ["a", "a"]);
  assert.deepEqual(read(4, 0, 0, [0], [], 1), [0]);
});

test("arithmetic is modulo 2^64 where doubles end", () => {
  const top = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]; // 2^63 - 1
  assert.deepEqual(values(must(one(2, 2, 1, top, [1], 1)).columns.get("c")), [-(2n ** 63n)]);
});

test("unknown types and encodings are skipped; the columns after them are read", () => {
  for (const [type, encoding] of [[6, 1], [2, 9], [5, 1], [4, 1]] as const)
    assert.deepEqual(values(must(one(type, encoding, 1, [0], [7, 7], 2)).columns.get("c")), [null, null]);
  const front = [2, 1, 0x61, 77, 0, 0, 99, 3, 1, 0, 1, 0x62, 2, 0, 0, 1, 1, 1, 0];
  const payload = must(Uint8Array.from([1, 0x74, 1, front.length, front.length, 4, 4, ...front, 1, 2, 3, 42]));
  assert.equal(payload.columns.get("a")?.value(0), null);
  assert.equal(payload.columns.get("b")?.value(0), 42);
});

test("a dictionary code outside the dictionary makes the column absent", () => {
  assert.deepEqual(values(must(one(5, 4, 1, [1, 1, 0x61], [0, 1], 2)).columns.get("c")), [null, null]);
});

test("damaged bytes end in an error or in values, never in an exception or in memory without bound", () => {
  const good = documented();
  for (let length = 0; length < good.length; length++) readPayload(good.subarray(0, length));
  for (let at = 0; at < good.length; at++)
    for (const bits of [1, 0x80, 0xff]) {
      const bytes = good.slice();
      bytes[at]! ^= bits;
      const read = readPayload(bytes);
      if (read.ok)
        for (const column of read.value.columns.values()) assert.equal(values(column).length, read.value.rows);
    }
  const million = Uint8Array.from([1, 0x74, 0xff, 0xff, 0x3f, 1, 1, 0, 0, 0]);
  assert.equal(readPayload(million).ok, false, "a million rows in ten bytes");
});
