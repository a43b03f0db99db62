// Layout: text of times, ruler, short names, fitted labels, coverage of pixels, placement of tracks.

import assert from "node:assert/strict";
import test from "node:test";
import { linesOf, LINES } from "../draw/strips.ts";
import { contrast, DARK, LIGHT } from "../draw/theme.ts";
import {
  CAUSES, colorOf, EDGE, FIRST_HOST, FIRST_HUE, FIRST_KIND, HOST_HUES, hueOf, HUES, KINDS, kindOfWork, learnKinds,
  NOTHING, SHADES,
} from "../layout/colors.ts";
import { Coverage, shade } from "../layout/coverage.ts";
import { Fitter } from "../layout/fit.ts";
import { hit } from "../layout/hit.ts";
import { HEAD, runs } from "../layout/scene.ts";
import { nameLines } from "../layout/name_lines.ts";
import { ownParts, learnNames, shortName } from "../layout/short_name.ts";
import { roundStep, ticksOf } from "../layout/ticks.ts";
import { pct } from "../layout/cell_text.ts";
import { amount, duration, exact, moment, percent } from "../layout/time_text.ts";
import { COUNTER, GROUP, initiallyFolded, moved, placeTracks, ROW, changesToReveal } from "../layout/tracks.ts";
import type { TrackChoice } from "../layout/tracks.ts";
import type { Lane, Track } from "../model/recording/manifest.ts";

test("durations have three digits and a unit", () => {
  const cases: [number, string][] = [
    [0, "0 ns"], [1, "1 ns"], [999, "999 ns"], [1000, "1.00 us"], [1234, "1.23 us"], [12345, "12.3 us"],
    [123456, "123 us"], [999_999, "1.00 ms"], [1_000_000, "1.00 ms"], [92_000, "92.0 us"], [-999_999, "−1.00 ms"],
    [218_269_713, "218 ms"], [59_999_999_999, "60.0 s"], [-1500, "−1.50 us"],
  ];
  for (const [ns, text] of cases) assert.equal(duration(ns), text);
  assert.equal(duration(NaN), "–");
  assert.equal(exact(1234567), "1,234,567 ns");
  assert.equal(exact(436833.3333333333), "436,833.333 ns");
  assert.equal(pct(-0.04), ">−0.1 %");
  assert.equal(percent(0.2562), "25.6 %");
  assert.equal(percent(0.0001), "<0.1 %");
  assert.equal(percent(0), "0.0 %");
});

test("values have the unit of their column", () => {
  assert.equal(amount(1572864, "bytes"), "1.50 MiB");
  assert.equal(amount(512, "bytes"), "512 B");
  assert.equal(amount(0, "bytes"), "0 B");
  assert.equal(amount(1023.9, "bytes"), "1.00 KiB");
  assert.equal(amount(1498, "MiB"), "1.46 GiB");
  assert.equal(amount(143771, "MiB"), "140 GiB");
  assert.equal(amount(40, "C"), "40 °C");
  assert.equal(amount(1.25e12, "FLOP/s"), "1.25 TFLOP/s");
  assert.equal(amount(412.5, "W"), "412.5 W");
  assert.equal(amount(608, "count"), "608");
  assert.equal(amount(12345, "ns"), "12.3 us");
});

test("moments have the decimals their step needs", () => {
  assert.equal(moment(12_345_678, 1), "12.345678 ms");
  assert.equal(moment(12_345_678, 1000), "12.346 ms");
  assert.equal(moment(20_000, 20_000), "20 us");
  assert.equal(moment(0, 1), "0 ns");
});

test("ruler steps are 1, 2 or 5 and never below a nanosecond", () => {
  const rounded = [[0, 1], [0.3, 1], [1, 1], [1.1, 2], [3, 5], [6, 10], [110, 200], [1e9, 1e9]] as const;
  for (const [ns, step] of rounded) assert.equal(roundStep(ns), step);
});

test("the ruler covers the window with round moments", () => {
  const whole = ticksOf({ from: 0, to: 218_269_713 }, 1100);
  assert.deepEqual([whole.step, whole.base, whole.ticks[1]], [50_000_000, null, { at: 50_000_000, label: "50 ms" }]);
  for (const view of [
    { from: 0, to: 10 }, { from: 1e9, to: 1e9 + 10 }, { from: 3, to: 5e10 }, { from: 123456789, to: 123456999 },
  ]) {
    const { ticks, step } = ticksOf(view, 1100);
    assert.ok(ticks.length >= 4 && ticks.length <= 11, `${ticks.length} ticks`);
    assert.equal(new Set(ticks.map((tick) => tick.label)).size, ticks.length, "each tick has its own label");
    for (const tick of ticks) assert.equal(tick.at % step, 0);
  }
});

test("late nanoseconds count from a base", () => {
  const { base, ticks } = ticksOf({ from: 1_200_000_003, to: 1_200_000_063 }, 1100);
  assert.equal(base, "1.2000000 s +");
  assert.deepEqual(ticks[0], { at: 1_200_000_010, label: "10 ns" });
});

test("short names omit namespaces, parameters and return types", () => {
  const cases: [string, string][] = [
    [
      "void at::native::(anonymous namespace)::fill_kernel<4, at::native::F>(int, float*)",
      "fill_kernel<4, at::native::F>",
    ],
    [
      "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float, float)",
      "bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>",
    ],
    ["aten::addmm", "aten::addmm"],
    ["cudaLaunchKernel", "cudaLaunchKernel"],
    [
      "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
      "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    ],
    ["sm90_xmma_gemm_bf16", "sm90_xmma_gemm_bf16"],
    ["Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)"],
    ["torch/nn/modules/module.py(1532): _call_impl", "torch/nn/modules/module.py(1532): _call_impl"],
    ["", "(no name)"],
    ["good\u202ekcab", "good\\u202ekcab"],
  ];
  for (const [name, short] of cases) assert.equal(shortName(name), short);
});

test("kernels of a recording have short names that differ wherever the full names do, also where they are cut", () => {
  const of = (functor: string, count: number) =>
    `void at::native::vectorized_elementwise_kernel<4, at::native::${functor}, std::array<char*, ${count}ul> >(int)`;
  const [add, fill] = [of("CUDAFunctor_add<float>", 3), of("FillFunctor<float>", 1)];
  const tiles = ["ampere_sgemm_128x64_tn", "ampere_sgemm_128x128_tn"];
  const overloads = ["void f<int>(int)", "void f<int>(float)"];
  learnNames([add, fill, ...tiles, ...overloads]);
  assert.equal(shortName(add), "vectorized_elementwise_kernel<CUDAFunctor_add<float>>");
  assert.equal(shortName(fill), "vectorized_elementwise_kernel<FillFunctor<float>>");
  assert.deepEqual(overloads.map(shortName), ["f<int>(int)", "f<int>(float)"]);
  const fitter = new Fitter((text) => text.length * 6);
  for (const [a, b] of [[add, fill], tiles] as const) {
    const cut = [a, b].map((name) => fitter.fit(shortName(name!), 19 * 6, ownParts(name!)));
    assert.notEqual(cut[0], cut[1], String(cut));
  }
});

test("a name that is cut keeps every place that differs from its neighbours, as far as it fits", () => {
  const fitter = new Fitter((text) => text.length);
  const tiles = ["128x128", "128x64", "64x64"].flatMap((tile) => ["nn", "nt", "tn"].flatMap((layout) =>
    ["v1", "v2"].map((version) => `cudnn_sm80_implicit_gemm_${tile}_some_shared_words_${layout}_kernel_${version}`)));
  learnNames(tiles);
  for (let room = 26; room < 70; room++) {
    const cut = tiles.map((name) => fitter.fit(shortName(name), room, ownParts(name)));
    assert.equal(new Set(cut).size, tiles.length, `${room}: ${cut}`);
    assert.ok(cut.every((text) => text.length <= room), `${room}: ${cut}`);
  }
});

test("a name in a box has as many lines as fit, and keeps what differs from its neighbours", () => {
  const fitter = new Fitter((text) => text.length);
  const named = (tile: string) => `cudnn_sm80_implicit_gemm_${tile}_some_shared_words_kernel`;
  const names = ["128x128", "128x64", "64x64"].map(named);
  learnNames(names);
  assert.deepEqual(nameLines(names[0]!, 30, 1, fitter), [fitter.fit(names[0]!, 30, ownParts(names[0]!))]);
  const lines = ["cudnn_sm80_implicit_gemm_", "128x128_some_shared_words_", "kernel"];
  assert.deepEqual(nameLines(names[0]!, 26, 3, fitter), lines);
  assert.deepEqual(nameLines("gemm", 26, 3, fitter), ["gemm"]);
  for (let width = 9; width < 60; width++)
    for (let most = 1; most < 6; most++) {
      const lines = names.map((name) => nameLines(name, width, most, fitter));
      assert.ok(lines.every((each) => each.length <= most && each.every((line) => line.length <= width)), `${width}`);
      if (width * (most - 0.5) < 24) continue;
      assert.equal(new Set(lines.map(String)).size, names.length, `${width} ${most}: ${lines}`);
    }
});

test("labels fit or are omitted", () => {
  const fitter = new Fitter((text) => text.length * 6);
  assert.equal(fitter.fit("gemm", 24), "gemm");
  assert.equal(fitter.fit("gemm_kernel", 36), "gemm_…");
  assert.equal(fitter.fit("gemm", 17), "");
  for (let room = 0; room < 80; room++) {
    const fitted = fitter.fit("a long name of a kernel", room);
    assert.ok(fitter.width(fitted) <= room || fitted === "");
  }
});

function painted(width: number, slices: [x0: number, x1: number, density: number, code: number][]) {
  const coverage = new Coverage(width);
  for (const slice of slices) coverage.add(...slice);
  const codes = new Uint8Array(width);
  const shades = new Uint8Array(width);
  coverage.take(codes, shades, 0);
  return { codes: [...codes], shades: [...shades] };
}

test("a pixel shows the share of its time that is covered", () => {
  assert.deepEqual(painted(4, [[1, 3, 1, 5]]).shades, [0, 255, 255, 0]);
  assert.deepEqual(painted(3, [[0.5, 2.25, 1, 5]]).shades, [shade(0.5, true), 255, shade(0.25, true)]);
  // Ten events of 3 % of a pixel each: 30 % of it, whatever their number.
  const many = Array.from({ length: 10 }, (_, i) => [i / 10, i / 10 + 0.03, 1, 5] as [number, number, number, number]);
  assert.equal(painted(1, many).shades[0], shade(0.3, true));
});

test("an almost idle pixel is low but not blank; an almost full one is not full", () => {
  assert.equal(shade(0, false), 0);
  assert.ok(shade(0.0001, true) > 25 && shade(0.0001, true) < 64);
  assert.ok(shade(0.99, true) < 240);
  assert.equal(shade(1, true), 255);
  assert.ok(painted(3, [[1.5, 1.5, 0, 5]]).shades[1]! > 0, "an event without length");
});

test("a pixel has the colour of the slice that covers most of it", () => {
  assert.deepEqual(painted(1, [[0, 0.2, 1, 5], [0.2, 0.9, 1, 6], [0.9, 1, 1, 7]]).codes, [6]);
  assert.deepEqual(painted(6, [[0, 6, 1, 5]]).codes, [5 | EDGE, 5, 5, 5, 5, 5]);
});

test("slices outside the row are ignored; slices that reach into it are clipped", () => {
  assert.deepEqual(painted(3, [[-10, -1, 1, 5], [4, 9, 1, 5]]).codes, [NOTHING, NOTHING, NOTHING]);
  assert.deepEqual(painted(3, [[-1e12, 1e12, 1, 5]]).shades, [255, 255, 255]);
});

test("a bar is as high as the share of time that is covered", () => {
  assert.deepEqual([0, 1, 128, 254, 255].map(linesOf), [0, 1, LINES / 2, LINES - 1, LINES]);
});

test("every fill has a contrast of 3:1 with its ground in both themes, and the text on it of 4.5:1", () => {
  for (const theme of [LIGHT, DARK]) {
    const range = (first: number, length: number) => Array.from({ length }, (_, i) => first + i);
    const events = [...range(FIRST_KIND, KINDS.length * SHADES), ...range(FIRST_HOST, HOST_HUES)];
    const codes = [...range(FIRST_HUE, HUES), ...events, ...CAUSES.map((cause) => cause.code)];
    for (const code of codes) {
      const [text, box] = [theme.onSlice, theme.ground].map((other) => contrast(theme.fills[code]!, other));
      assert.ok(text! >= 4.5, `text on code ${code}: ${text}`);
      assert.ok(box! >= 3, `code ${code}: ${box}`);
    }
    for (const quiet of [theme.text, theme.quiet, theme.accent]) assert.ok(contrast(quiet, theme.ground) >= 4.5);
  }
});

test("work has the colour of its kind, host events have none of these", () => {
  const names = ["sm90_gemm_a", "sm90_gemm_b", "sm90_gemm_c"];
  learnKinds([...names.map((name) => ({ name, kind: "GEMM" })), { name: "ncclKernel", kind: "communication" }]);
  const kindOf = (name: string, table = "kernel") => Math.floor((colorOf(table, name) - FIRST_KIND) / SHADES);
  assert.deepEqual(names.map((name) => KINDS[kindOf(name)]), ["GEMM", "GEMM", "GEMM"]);
  const others = [kindOf("ncclKernel"), kindOf("HtoD", "memcpy"), kindOf("unheard of")];
  assert.deepEqual(others.map((at) => KINDS[at]), ["communication", "copy", "other"]);
  assert.ok(names.every((name) => colorOf("op", name) >= FIRST_HOST));
  assert.equal(kindOfWork("op", "aten::mm"), -1);
});

test("a name has one colour, causes have a letter each", () => {
  assert.equal(hueOf("gemm"), hueOf("gemm"));
  assert.ok(new Set(["gemm", "relu", "softmax", "copy", "norm"].map(hueOf)).size >= 4);
  assert.equal(new Set(CAUSES.map((cause) => cause.letter)).size, CAUSES.length);
});

const names = ["process", "main", "GPU 0", "stream 7", "power"];
const parents = [-1, 0, -1, 2, 2];
const tracks: Track[] = names.map((name, id) => ({ id, parent: parents[id]!, kind: "", name, device: null }));
const lane = (track: number, y: number, kind = "slice"): Lane =>
  ({ id: 0, track, y, table: "kernel", label: null, kind, unit: null, events: 0, peak: null, levels: [] });
const lanesOf = [[], [lane(1, 0), lane(1, 1), lane(1, 2)], [], [lane(3, 0), lane(3, 0)], [lane(4, 0, "value")]];
const childrenOf = tracks.map((track) => tracks.filter((other) => other.parent === track.id));
const tree = { tracks, childrenOf, lanesOf };
const choice = (change: Partial<TrackChoice> = {}): TrackChoice =>
  ({ collapsed: new Set(), hidden: new Set(), pinned: [], order: [], filter: "", ...change });
const shown = (change: Partial<TrackChoice>) =>
  placeTracks(tree, choice(change)).rest.tracks.map((placed) => placed.track.name);

test("tracks are placed one below the other", () => {
  const { rest } = placeTracks(tree, choice());
  const tops = [0, GROUP, GROUP + 3 * ROW + 4, 2 * GROUP + 3 * ROW + 4, 2 * GROUP + 4 * ROW + 8];
  assert.deepEqual(rest.tracks.map((t) => t.top), tops);
  assert.equal(rest.height, 2 * GROUP + 4 * ROW + COUNTER + 12);
  assert.deepEqual(rest.tracks.map((t) => t.kind), ["group", "slices", "group", "slices", "counter"]);
});

test("tracks fold, hide, pin, filter and move", () => {
  assert.deepEqual(shown({ collapsed: new Set([2]) }), ["process", "main", "GPU 0"]);
  assert.deepEqual(shown({ hidden: new Set([0]) }), ["GPU 0", "stream 7", "power"]);
  assert.deepEqual(shown({ filter: "STREAM" }), ["GPU 0", "stream 7"]);
  assert.deepEqual(shown({ filter: "gpu" }), ["GPU 0", "stream 7", "power"]);
  const { pinned, rest } = placeTracks(tree, choice({ pinned: [4, 3] }));
  assert.deepEqual(pinned.tracks.map((t) => t.track.name), ["power", "stream 7"]);
  assert.deepEqual(rest.tracks.map((t) => t.track.name), ["process", "main", "GPU 0"]);
  assert.deepEqual(shown({ order: moved(tree, choice(), 3, 1)! }), ["process", "main", "GPU 0", "power", "stream 7"]);
  assert.deepEqual(shown({ order: moved(tree, choice(), 2, -1)! }), ["GPU 0", "stream 7", "power", "process", "main"]);
  assert.equal(moved(tree, choice(), 3, -1), null);
  // An order from a link may lack tracks, and contain unknown ones.
  const partial = choice({ order: [9, 2, 4, 2] });
  assert.deepEqual(shown(partial), ["GPU 0", "power", "stream 7", "process", "main"]);
  assert.deepEqual(shown({ order: moved(tree, partial, 3, -1)! }), ["GPU 0", "stream 7", "power", "process", "main"]);
  const folded = placeTracks(tree, choice({ collapsed: new Set([1]) })).rest.tracks[1]!;
  assert.ok(folded.height < 3 * ROW && folded.rowHeight < 10);
});

test("a requested track becomes visible", () => {
  const away = choice({ collapsed: new Set([0, 2]), hidden: new Set([3, 1]), filter: "power" });
  assert.deepEqual(changesToReveal(tree, away, 3), { collapsed: new Set([0]), hidden: new Set([1]), filter: "" });
  assert.deepEqual(changesToReveal(tree, choice({ collapsed: new Set([3]) }), 3), {});
});

test("a cause is named over the pixels that it dominates", () => {
  const codes = Uint8Array.from([0, 20, 20 | EDGE, 20, 21, 21, 0, 20]);
  const shades = Uint8Array.from([0, 255, 240, 200, 255, 90, 0, 255]);
  assert.deepEqual(runs(codes, shades, 0, 8), [[1, 4, 20], [4, 5, 21], [7, 8, 20]]);
});

test("hit testing", () => {
  const placed = placeTracks(tree, choice({ pinned: [3] }));
  const at = (y: number, scroll = 0) => hit(y, placed.pinned, placed.pinned.height, placed.rest, scroll);
  assert.equal(at(5).zone, "minimap");
  assert.equal(at(HEAD - 2).zone, "ruler");
  const stream = at(HEAD + 3);
  assert.ok(stream.zone === "track" && stream.track.track.name === "stream 7" && stream.lanes.length === 2);
  const second = at(HEAD + placed.pinned.height + GROUP + ROW + 3);
  assert.ok(second.zone === "track" && second.row === 1 && second.lanes.length === 1);
  assert.deepEqual(at(HEAD + placed.pinned.height + 3, GROUP), { ...second, row: 0, lanes: [lanesOf[1]![0]!] });
  assert.equal(at(5000).zone, "nothing");
});

test("deep tracks and Python calls start folded", () => {
  const deep = [...lanesOf];
  deep[1] = Array.from({ length: 20 }, (_, y) => lane(1, y));
  assert.deepEqual([...initiallyFolded({ ...tree, lanesOf: deep })], [1]);
  assert.deepEqual([...initiallyFolded(tree)], []);
});
