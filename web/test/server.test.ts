// The source that talks to `gpu-profile view`: the token is exchanged once and first, ids are sent in batches,
// rejections become one-line errors.

import assert from "node:assert/strict";
import test from "node:test";
import { Connection, isToken } from "../read/connection.ts";
import { serverSources } from "../read/server.ts";
import { frame } from "./encode.ts";

interface Asked {
  path: string;
  method: string;
  token: string | null;
}

/** Answers like the program; blob n holds n bytes. */
function serve(status: (path: string) => number): Asked[] {
  const asked: Asked[] = [];
  globalThis.fetch = async (input, options) => {
    const path = String(input);
    asked.push({ path, method: options?.method ?? "GET", token: new Headers(options?.headers).get("Authorization") });
    const ids = /^(?:\/base)?\/blobs\/([\d,]+)$/.exec(path)?.[1]?.split(",").map(Number);
    const body = ids ? frame(ids.map((id) => new Uint8Array(id))) : "{}";
    return new Response(body as BodyInit, { status: status(path) });
  };
  return asked;
}

test("the token opens the session first", async () => {
  const asked = serve(() => 200);
  const source = serverSources("secret").document;
  assert.equal(await source.manifest(), "{}");
  assert.deepEqual((await Promise.all(source.blobs([3, 1, 2]))).map((blob) => blob.length), [3, 1, 2]);
  assert.deepEqual(asked, [
    { path: "/session", method: "POST", token: "Bearer secret" },
    { path: "/manifest", method: "GET", token: null },
    { path: "/blobs/3,1,2", method: "GET", token: null },
  ]);
});

test("the timeline of a long recording is not made to wait for the answer", async () => {
  let told = 0;
  const stages = ["reading", "analysing", "analysing", "ready"];
  globalThis.fetch = async () => {
    const stage = stages[told++];
    return Response.json({ stage, share: null, known: [], timeline: stage === "analysing", elapsed_s: told });
  };
  const shown: string[] = [];
  const { prepared } = serverSources(null);
  const show = ({ stage }: { stage: string }) => void shown.push(stage);
  assert.equal(await prepared("timeline", show), false);
  assert.deepEqual(shown, ["reading", "analysing"]);
  assert.equal(await prepared("answer", show), true);
  assert.deepEqual(shown, ["reading", "analysing", "analysing"]);
  told = 3;
  assert.equal(await prepared("timeline", show), true);
});

test("the baseline is under /base, in the same session", async () => {
  const asked = serve(() => 200);
  const sources = serverSources("secret");
  assert.equal(await sources.comparison(), "{}");
  await sources.base.manifest();
  await Promise.all(sources.base.blobs([1]));
  assert.deepEqual(asked.map(({ path }) => path), ["/session", "/comparison", "/base/manifest", "/base/blobs/1"]);
});

test("at most 64 blobs per request, in the requested order", async () => {
  const asked = serve(() => 200);
  const ids = Array.from({ length: 150 }, (_, i) => 149 - i);
  const blobs = await Promise.all(serverSources(null).document.blobs(ids));
  assert.deepEqual(blobs.map((blob) => blob.length), ids);
  assert.deepEqual(asked.map(({ path }) => path.split(",").length), [64, 64, 22]);
});

test("rejections are one-line errors", async () => {
  serve(() => 403);
  await assert.rejects(serverSources("old").document.manifest(), /403/);
  await assert.rejects(serverSources(null).document.manifest(), /gpu-profile view/);
  serve((path) => (path.startsWith("/blobs") ? 500 : 200));
  await assert.rejects(Promise.all(serverSources(null).document.blobs([1])), /500/);
});

test("requests wait while the program is away, and are answered after a retry", async () => {
  let [status, isThere]: [number, boolean] = [200, true];
  globalThis.fetch = async () => {
    if (!isThere) throw new TypeError("Failed to fetch");
    return new Response("whole", { status });
  };
  const connection = new Connection();
  const seen: unknown[] = [];
  connection.subscribe(() => seen.push(connection.lost));
  const ask = () => connection.ask("/manifest", (reply) => reply.text());
  assert.deepEqual(await ask(), { status: 200, body: "whole" });
  isThere = false;
  const answers = Promise.all([ask(), ask()]);
  await connection.retry();
  assert.deepEqual([connection.lost, seen], ["ended", ["ended"]]);
  [isThere, status] = [true, 401]; // another program at this port
  await connection.retry();
  assert.equal(connection.lost, "restarted");
  status = 200;
  await connection.retry();
  assert.deepEqual((await answers).map(({ body }) => body), ["whole", "whole"]);
  assert.deepEqual(seen, ["ended", "restarted", null]);
});

test("a token is no link", () => {
  const fragments = ["0123456789abcdef0123456789abcdef", "page=job", "", "page"];
  assert.deepEqual(fragments.map(isToken), [true, false, false, false]);
});
