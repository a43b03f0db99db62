// Properties of everything that reads a page's data, over arbitrary bytes and JSON: the result is a value of the
// declared shape or a one-line error, never another exception, and time and memory stay in proportion to the bytes. A
// generator with a fixed seed makes the changes, so that failures are reproducible.

import assert from "node:assert/strict";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { readManifest } from "../model/recording/manifest.ts";
import { readReport } from "../model/recording/read_report.ts";
import { Recording } from "../model/recording/recording.ts";
import { splitFrames } from "../read/frames.ts";
import { readPayload } from "../read/payload.ts";
import { decodeSegment } from "../read/segment.ts";
import { buildDocument, ONE_KERNEL, sourceOf } from "./document.ts";
import { concat, encodePayload, frame } from "./encode.ts";

/** Numbers from 0 to below `end`, the same in every run (xorshift32). */
function generator(seed: number) {
  let state = seed;
  return (end: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % end;
  };
}
type Random = ReturnType<typeof generator>;

const TELLING = [0, 1, 2, 3, 4, 5, 8, 0x7f, 0x80, 0xff];

function changed(bytes: Uint8Array, random: Random): Uint8Array {
  const out = bytes.slice(0, random(4) === 0 ? random(bytes.length + 1) : bytes.length);
  for (let times = random(4); times >= 0 && out.length > 0; times--)
    out[random(out.length)] = random(2) === 0 ? TELLING[random(TELLING.length)]! : random(256);
  return out;
}

/** Reads all of a payload, like a page with every column open. */
function readAll(bytes: Uint8Array): void {
  const read = readPayload(bytes);
  if (!read.ok) return assert.match(read.error, /^[^\n]+$/);
  const { rows, columns } = read.value;
  assert.ok(rows <= bytes.length + 256, "rows cost bytes");
  for (const column of columns.values()) {
    const cells = column.cells();
    if (cells === null) continue;
    const held = cells.kind === "text" ? cells.codes : cells.values;
    assert.equal(held.length, rows, "a column has a cell for every row");
    if (cells.kind === "text")
      for (const code of cells.codes) assert.ok(code < cells.words.length, "a word for every code");
    if (cells.kind === "number" && column.type !== "f64")
      assert.ok(cells.values.every(Number.isSafeInteger), "integers are exact");
    for (const row of [-1, 0, rows - 1, rows]) column.value(row);
  }
}

const every = encodePayload("t", 5, [
  { name: "time", type: "time", values: [0, 2 ** 52, null, 7, 8] },
  { name: "id", type: "i64", values: [2n ** 63n - 1n, -(2n ** 63n), 0n, null, 1n] },
  { name: "x", type: "f64", values: [0.1, -Infinity, null, NaN, 5e-324] },
  { name: "s", type: "string", values: ["<b>", null, "\u{1f600}", "<b>", ""] },
]);

test("changed payloads", () => {
  const random = generator(1);
  for (let i = 0; i < 8_000; i++) readAll(changed(every, random));
});

test("payloads of columns with any type, encoding, width and parameter", () => {
  const random = generator(2);
  const some = (most: number): number[] => Array.from({ length: random(most) }, () => TELLING[random(TELLING.length)]!);
  for (let i = 0; i < 8_000; i++) {
    const rows = random(9);
    const parameter = some(12);
    const width = random(9);
    const front = [1, 1, 0x63, random(7), 0, random(2), ...some(2), random(7), width, parameter.length, ...parameter];
    const values = Array.from({ length: rows * width }, () => TELLING[random(TELLING.length)]!);
    const lengths = [front.length, front.length, values.length, values.length];
    readAll(Uint8Array.from([1, 0x74, rows, ...lengths, ...front, ...values]));
  }
});

test("a small payload with huge counts costs no memory", () => {
  const huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
  for (const head of [
    [1, 0x74, ...huge, 1, 1, 0, 0, 0], [1, 0x74, 1, ...huge, ...huge, 0, 0], [...huge],
    [1, 0x74, 1, 7, 7, 0, 0, ...huge],
  ])
    assert.equal(readPayload(Uint8Array.from(head)).ok, false);
});

test("mutated frames and segments", async () => {
  const random = generator(3);
  const frames = frame([every, new Uint8Array(0), every.subarray(0, 9)]);
  for (let i = 0; i < 2_000; i++) {
    const bytes = changed(frames, random);
    const read = splitFrames(bytes, random(5));
    if (read.ok)
      assert.ok(read.value.reduce((sum, blob) => sum + blob.length, 0) <= bytes.length, "blobs are parts of the bytes");
  }
  const segment = gzipSync(frames);
  for (let i = 0; i < 300; i++) {
    const text = Buffer.from(changed(segment, random)).toString("base64");
    const isError = (error: unknown) => assert.ok(error instanceof Error);
    await decodeSegment(text).then((bytes) => splitFrames(bytes, 3), isError);
  }
});

const N = { name: "n", type: "text" };
const built = buildDocument({
  ...ONE_KERNEL,
  report: {
    trust: [{ warning: true, text: "t" }],
    tables: [{ name: "kernels", handle_prefix: "k", columns: [N], rows: [["a", 1, null]], notes: ["n"] }],
    findings: [{ id: "f", severity: "high", title: "t", evidence: ["e"], remedy: "r" }],
    verdict: { name: "v", share_pct: 1, alternatives: [{ name: "a" }] },
    next_steps: ["n"],
  },
});

const STRANGE: unknown[] = [
  null, 0, -1, 1e308, 2 ** 53, "", "x", true, [], [null], [[]], {}, { length: 5 }, [0, 0, 0, 0, 0, 0],
];

/** A copy of `value` with one member, at any depth, replaced. */
function spoiled(value: unknown, random: Random): unknown {
  const copy = structuredClone(value) as Record<string, unknown>;
  let at = copy;
  for (;;) {
    const keys = Object.keys(at);
    if (keys.length === 0) return copy;
    const key = keys[random(keys.length)]!;
    const inner = at[key];
    if (inner === null || typeof inner !== "object" || random(4) === 0) {
      at[key] = STRANGE[random(STRANGE.length)];
      return copy;
    }
    at = inner as Record<string, unknown>;
  }
}

test("spoiled manifests are refused, or read and shown", async () => {
  const random = generator(4);
  for (let i = 0; i < 2_000; i++) {
    const read = readManifest(JSON.stringify(spoiled(spoiled(built.manifest, random), random)));
    if (!read.ok) {
      assert.match(read.error, /^[^\n]+$/);
      continue;
    }
    const recording = new Recording(read.value, sourceOf(built));
    recording.chunks.onError = () => {};
    for (const lane of read.value.lanes)
      assert.ok(recording.childrenOf[read.value.tracks[lane.track]!.id] !== undefined, "a lane is on a track");
    await recording.row("kernel", 0).catch((error: unknown) => assert.ok(error instanceof Error));
  }
});

test("mutated reports have the declared shape", () => {
  const random = generator(5);
  const report = JSON.parse(new TextDecoder().decode(built.blobs[built.manifest.report as number]));
  for (let i = 0; i < 2_000; i++) {
    const read = readReport(JSON.stringify(spoiled(spoiled(report, random), random)));
    for (const line of read.trust) assert.equal(typeof line.text, "string");
    for (const table of read.tables)
      assert.ok(table.rows.every(Array.isArray) && table.columns.every((c) => typeof c.name === "string"));
    for (const finding of read.findings) assert.ok(finding.evidence.every((each) => typeof each === "string"));
  }
});

test("bytes after a blob are not read", () => {
  const around = concat([Uint8Array.from([9, 9]), every, Uint8Array.from([9, 9])]);
  const read = readPayload(around.subarray(2, 2 + every.length));
  assert.ok(read.ok);
  assert.deepEqual([...read.value.columns.keys()], ["time", "id", "x", "s"]);
});
