// The palette: which texts fit what was typed, in which order, and where its entries lead.

import assert from "node:assert/strict";
import test from "node:test";
import { kernelDestinations, trackDestinations } from "../model/search/destinations.ts";
import { fuzzySorted, matchOf } from "../model/search/fuzzy.ts";
import { viewerOf } from "./opened.ts";

test("each typed word is a part of the text, or its letters start words", () => {
  for (const typed of ["enil", "x", "tl", "tmln"]) assert.equal(matchOf("Timeline", typed), null, typed);
  for (const typed of ["", "TIME", "line", "t line"]) assert.notEqual(matchOf("Timeline", typed), null, typed);
  assert.deepEqual(matchOf("cudaMemcpyAsync", "cma")?.at, [0, 4, 10]);
  assert.deepEqual(matchOf("sgemm gemm", "gemm")?.at, [6, 7, 8, 9]);
});

test("whole words come before starts of words, and those before scattered letters", () => {
  const names = ["a_large_t_e_m_m", "gemmlike_very_long_name_of_a_kernel", "void gemm", "gap_element_mm", "gem_m"];
  const best = fuzzySorted(names, (name) => name, "gemm").slice(0, 2);
  assert.deepEqual(best, ["void gemm", "gemmlike_very_long_name_of_a_kernel"]);
  assert.deepEqual(fuzzySorted(["cudaMemcpyAsync", "calm mca"], (name) => name, "cma")[0], "cudaMemcpyAsync");
  assert.deepEqual(fuzzySorted(["b", "a"], (name) => name, ""), ["b", "a"]);
});

test("a kernel leads to its longest launch, a track to the timeline", async () => {
  const viewer = viewerOf("drawn");
  const kernels = kernelDestinations(viewer, await viewer.recording.names());
  assert.match(kernels[0]!.name, /gemm/);
  const tracks = trackDestinations(viewer);
  assert.equal(tracks.length, viewer.recording.manifest.tracks.length);
  const stream = tracks.findIndex(({ name }) => name === "stream 13 (GPU 0: drawn)");
  tracks[stream]!.go();
  assert.deepEqual(
    [viewer.state.page, viewer.state.timeline.track, viewer.takeUnrevealed()],
    ["timeline", { id: stream }, { track: stream, y: 0 }],
  );
});
