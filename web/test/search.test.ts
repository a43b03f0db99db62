// Filters of the search: what they limit it to, what they say, and errors in them.

import assert from "node:assert/strict";
import test from "node:test";
import { rangeOf } from "../model/recording/lane.ts";
import { collectMarks, filteredNames } from "../model/search/marks.ts";
import { findEvent, search } from "../model/search/search.ts";
import { readQuery } from "../model/search/search_query.ts";
import { viewerOf } from "./opened.ts";

const drawn = () => viewerOf("drawn").recording;

async function found(query: string): Promise<string[]> {
  const recording = drawn();
  const read = readQuery(query, recording.manifest);
  if (!read.ok) return [read.error];
  const names = search(await recording.names(), read.value);
  const passing =
    read.value.events === null ? names : await filteredNames(recording, names, read.value.events, () => true);
  return passing!.map(({ table, name, count }) => `${count} ${table} ${name.split("<")[0]}`).sort();
}

test("a filter of a kind limits the tables, with or without a text", async () => {
  assert.deepEqual(await found("kernel:"), ["1 kernel relu", "2 kernel void gemm"]);
  assert.deepEqual(await found("kernel:gem"), ["2 kernel void gemm"]);
  assert.deepEqual(await found("void gemm kernel:"), ["2 kernel void gemm"]);
  assert.deepEqual(await found("kernel: /^re/"), ["1 kernel relu"]);
  assert.deepEqual(await found("op: call:"), ["1 op aten::mm", "3 api_call cudaLaunchKernel"]);
});

test("colons in names are text", async () => {
  assert.deepEqual(await found("aten::mm"), ["1 op aten::mm"]);
  assert.deepEqual(await found("op::mm"), []);
  assert.deepEqual(await found("thing:mm"), []);
});

test("durations are of single events", async () => {
  assert.deepEqual(await found("kernel: dur>10us"), []);
  assert.deepEqual(await found("kernel: dur>=10us"), ["1 kernel relu", "2 kernel void gemm"]);
  assert.deepEqual(await found("dur>=0.015ms dur<80us"), ["1 memcpy HtoD"]);
  assert.deepEqual(await found("dur>80000ns"), ["1 range step 1"]);
});

test("threads and streams limit the tracks, numbers as whole words", async () => {
  assert.deepEqual(await found("stream:13"), ["1 memcpy HtoD"]);
  assert.deepEqual(await found("stream:7 relu"), ["1 kernel relu"]);
  assert.deepEqual(await found('thread:"main" op:'), ["1 op aten::mm"]);
  assert.deepEqual(await found("stream:3"), ["no stream matches '3'"]);
});

test("a filter that cannot be read is one line that says what to type", async () => {
  for (const query of ["dur>", "dur>500", "dur>5parsecs", "dur<x"]) {
    const problem = `cannot read '${query}': expected a duration with a unit, such as dur>500us`;
    assert.deepEqual(await found(query), [problem]);
  }
  assert.deepEqual(await found("python:"), ["no Python functions in this recording"]);
  assert.match((await found("kernel: /(/"))[0]!, /nterminated|nvalid/);
});

test("the filters say what they matched", () => {
  const read = readQuery("kernel:gemm stream:7 dur>5us", drawn().manifest);
  assert.deepEqual(read.ok && read.value.limits, ["kernels", "on stream 7", "dur>5us"]);
});

test("next match and marks pass only what the filter does", async () => {
  const recording = drawn();
  const read = readQuery("stream: dur>12us", recording.manifest);
  assert.ok(read.ok);
  const names = search(await recording.names(), read.value);
  const next = (time: number) => findEvent(recording, names, { time, lane: -1 }, 1, read.value.events);
  const first = await next(-1);
  assert.deepEqual(rangeOf(first!), { from: 25_000, to: 40_000 });
  assert.equal(await next(26_000), null);
  const marks = await collectMarks(recording, names, () => true, read.value.events);
  assert.deepEqual([...marks!.values()].map((starts) => [...starts]), [[25_000]]);
  assert.equal(await filteredNames(recording, names, read.value.events!, () => false), null);
});

test("a search with a filter is counted, and chosen names keep its matches", async () => {
  const viewer = viewerOf("drawn");
  viewer.search("dur>12us");
  assert.equal(viewer.state.found.matches, null);
  await new Promise((resume) => setTimeout(resume, 400));
  assert.deepEqual(viewer.state.found.matches!.map(({ name }) => name), ["step 1", "HtoD"]);
  assert.equal([...viewer.state.found.marks!.values()].reduce((sum, starts) => sum + starts.length, 0), 2);
  viewer.highlight(["relu"]);
  await new Promise((resume) => setTimeout(resume, 400));
  assert.equal(viewer.state.found.matches!.length, 2);
  assert.deepEqual([...viewer.state.found.marks!.values()].map((starts) => starts.length), [1]);
});
