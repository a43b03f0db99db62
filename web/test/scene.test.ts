// A frame as data: the appearance of a drawn document in a window, without a canvas.

import assert from "node:assert/strict";
import test from "node:test";
import { causeOf, CRITICAL, WORK } from "../layout/colors.ts";
import { pathLinks } from "../layout/critical_path.ts";
import { Fitter } from "../layout/fit.ts";
import { sceneOf, type FrameInput } from "../layout/scene.ts";
import { placeTracks } from "../layout/tracks.ts";
import type { Lane } from "../model/recording/manifest.ts";
import type { Range } from "../model/recording/range.ts";
import { buildDocument } from "./document.ts";
import { open, opened, viewerOf } from "./opened.ts";

const WIDTH = 1000; // of 100 us: a pixel is 100 ns

async function frame(view: Range, change: Partial<FrameInput> = {}, peak: Lane["peak"] = null) {
  const viewer = viewerOf("drawn");
  const { recording } = viewer;
  const { manifest, childrenOf } = recording;
  const lanesOf = recording.lanesOf.map((lanes) => lanes.map((lane) =>
    peak !== null && lane.kind === "value" ? { ...lane, label: "mem.used", peak } : lane));
  viewer.set({ view });
  const tree = { tracks: manifest.tracks, childrenOf, lanesOf };
  const frame: FrameInput = {
    state: viewer.state, length: viewer.length, width: WIDTH, height: 700, scale: 1, scroll: 0,
    ...placeTracks(tree, viewer.state.timeline), busy: null, cursor: null, links: [], critical: [], ...change,
  };
  const source = {
    strings: recording.strings,
    lanes: manifest.lanes,
    slices: (blob: number) => recording.chunks.slices(blob),
    values: (blob: number) => recording.chunks.values(blob),
    fitter: new Fitter((text) => text.length * 6),
  };
  const empty = sceneOf(frame, source);
  while (recording.chunks.isLoading) await new Promise((resume) => setTimeout(resume, 1));
  return { empty, scene: sceneOf(frame, source) };
}

/** The number of pixels of a colour in a row. */
const pixels = (scene: ReturnType<typeof sceneOf>, row: number, code: number) => {
  const { codes, pixels: width } = scene.areas[1]!.strips;
  return [...codes.subarray(row * width, (row + 1) * width)].filter((each) => (each & 0x7f) === code).length;
};

test("the drawn coverage adds up to the recorded time", async () => {
  const { scene } = await frame({ from: 0, to: 100_000 });
  // Rows: three of the thread, busy, idle, two streams. 40 of 100 us are busy, 40 wait for input, 20 for launches.
  assert.equal(scene.areas[1]!.strips.tops.length, 7);
  assert.equal(pixels(scene, 3, WORK), 400);
  assert.equal(pixels(scene, 4, causeOf("input pipeline").code), 400);
  assert.equal(pixels(scene, 4, causeOf("launch").code), 200);
  assert.equal(scene.areas[1]!.labels.filter(({ text }) => text === "input pipeline").length, 2);
  assert.equal(scene.areas[1]!.plots.length, 1);
});

test("the peak of a memory counter is marked, and its text covers the curve", async () => {
  const { scene } = await frame({ from: 0, to: 100_000 }, {}, [50_000, 300]);
  const labels = scene.areas[1]!.labels.filter(({ text }) => text.startsWith("peak "));
  assert.deepEqual(labels.map(({ text, plate }) => plate === 6 * text.length), [true]);
});

test("missing data is marked and never looks idle", async () => {
  const { empty } = await frame({ from: 0, to: 100_000 });
  const { codes, pixels: width } = empty.areas[1]!.strips;
  assert.ok(codes.subarray(3 * width, 4 * width).some((code) => code !== 0));
  assert.equal(empty.areas[1]!.labels.length, 0);
});

test("labels stay inside their slices and the window", async () => {
  for (const view of [{ from: 0, to: 100_000 }, { from: 22_000, to: 28_000 }, { from: 19_990, to: 20_010 }])
    for (const label of (await frame(view)).scene.areas[1]!.labels) {
      assert.ok(label.x >= 0 && label.x + label.text.length * 6 <= WIDTH, `${label.text} at ${label.x}`);
    }
});

test("the minimap covers its part of the recording", async () => {
  const busy = { shares: [1, 0], range: { from: 20_000, to: 60_000 } };
  const { scene } = await frame({ from: 0, to: 100_000 }, { busy });
  assert.deepEqual(scene.minimap.busy, { shares: [1, 0], x0: 200, x1: 600 });
});

test("the critical path is a band under its rows, with lines where it changes tracks", async () => {
  const { lanes } = opened("drawn").manifest.critical_path!;
  assert.deepEqual(lanes.map((lane) => lane.id), [9, 10, 11, 12]);
  const { scene } = await frame({ from: 0, to: 100_000 }, { critical: lanes });
  // Host code 44 us and calls 4 us of the thread; kernels 20 us and gaps 12 us of a stream.
  const { critical, strips } = scene.areas[1]!;
  assert.equal(critical.tops.length, 3);
  assert.ok(critical.tops.every((top) => strips.tops.some((row, i) => row < top && top < row + strips.heights[i]!)));
  const codesOf = (row: number) => [...critical.codes.subarray(row * WIDTH, (row + 1) * WIDTH)];
  const painted = [0, 1, 2].map((row) => codesOf(row).filter((code) => (code & 0x7f) === CRITICAL).length);
  assert.deepEqual(painted, [440, 40, 320]);
  // Thread > stream > thread > stream.
  assert.deepEqual(scene.links.map(({ x0, x1 }) => [x0, x1]), [[460, 460], [600, 600], [820, 820]]);
  const off = (await frame({ from: 0, to: 100_000 })).scene;
  assert.deepEqual([off.areas[1]!.critical.tops.length, off.links.length], [0, 0]);
});

test("too many parts of the critical path have bands and no lines", async () => {
  const many = buildDocument({
    window_ns: 1_000_000,
    tracks: [
      { parent: -1, kind: "device", name: "GPU", device: 0 }, { parent: 0, kind: "stream", name: "a" },
      { parent: 0, kind: "stream", name: "b" },
    ],
    lanes: [1, 2].map((track) => ({ track, table: "kernel", events: [{ start: 0, dur: 1_000_000 }] })),
    critical_path: {
      parts: [],
      lanes: [1, 2].map((track) => ({
        track, table: "critical_path", label: "kernel",
        events: Array.from({ length: 300 }, (_, i) => ({ start: (2 * i + track) * 1000, dur: 1000 })),
      })),
    },
  });
  const recording = open(many);
  const { lanes } = recording.manifest.critical_path!;
  const links = (to: number) =>
    pathLinks(lanes, { from: 0, to }, WIDTH, (blob) => recording.chunks.slices(blob)).length;
  links(1_000_000);
  links(100_000);
  while (recording.chunks.isLoading) await new Promise((resume) => setTimeout(resume, 1));
  assert.equal(links(100_000), 99);
  assert.equal(links(1_000_000), 0);
});
