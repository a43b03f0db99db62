// Transfers between hosts without a browser: lists of ranks, pairs of hosts, and when they are worth showing.

import assert from "node:assert/strict";
import test from "node:test";
import { areLinksInQuestion, hostLinks } from "../model/job/host_links.ts";
import { readJob, type Job } from "../model/job/job.ts";
import { readRanks } from "../model/job/rank_list.ts";
import type { Cell, ReportTable } from "../model/recording/report.ts";

test("lists of ranks are read as the program writes them", () => {
  assert.deepEqual(readRanks("0-3,8,9"), [0, 1, 2, 3, 8, 9]);
  assert.deepEqual(readRanks("0-24/8"), [0, 8, 16, 24]);
  assert.deepEqual(readRanks("7"), [7]);
  assert.equal(readRanks("0-504/8")!.length, 64);
  for (const text of ["", "a", "3-1", "0-8/0", "0-", "-1", "1,,2", "0-999999999", "1 - 2", "communicator"])
    assert.equal(readRanks(text), null, text);
});

/** Hosts a (ranks 0, 1), b (2, 3) and c (4, 5), and one rank without a host. */
const ranks = { rank: [0, 1, 2, 3, 4, 5, 6], host: [0, 0, 1, 1, 2, 2, 3] };
const job = (units: unknown[] = []): Job =>
  readJob(JSON.stringify({ steps: [1], hosts: ["a", "b", "c", null], ranks, recorded: [7], units }));

const table = (rows: Cell[][], row_count = rows.length): ReportTable => ({
  name: "links",
  handle_prefix: null,
  columns: ["ranks", "ratio", "slow"].map((name) => ({ name, type: "text", unit: null, doc: "" })),
  row_count,
  rows,
  notes: [],
});

test("a pair of hosts has the slowest group that connects it", () => {
  const known: Cell[][] = [
    ["0,2", 3, true], ["1,3", 1, false], ["0-5", 1.1, false], ["4-5", 0.9, false], ["6", 1, false],
  ];
  const all = table([...known, ["0,99", 9, true], [null, 9, true]], 10);
  const { hosts, ratios, rows, unread } = hostLinks(job(), all);
  assert.deepEqual(hosts, ["a", "b", "c", "rank 6"]);
  const [x, none] = [NaN, -1];
  assert.deepEqual([...ratios], [x, 3, 1.1, x, 3, x, 1.1, x, 1.1, 1.1, 0.9, x, x, x, x, 1]);
  assert.deepEqual([...rows], [none, 0, 2, none, 0, none, 2, none, 2, 2, 3, none, none, none, none, 4]);
  assert.equal(unread, 5); // a rank that the job lacks, no ranks, and three that the report leaves out
});

test("links are in question if one is slow, or holds the job up", () => {
  assert.ok(!areLinksInQuestion(job(), table([["0,2", 1, false]])));
  assert.ok(areLinksInQuestion(job(), table([["0,2", 1.3, true]])));
  assert.ok(areLinksInQuestion(job([{ unit: "group", cause: "slow link" }]), table([])));
  assert.ok(!areLinksInQuestion(job([{ unit: "rank 1", cause: "slow GPU" }]), null));
});
