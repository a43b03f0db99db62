// Finds the recording (in the page or at the program that served it) and its baseline, reads their manifests and shows
// the shell. Errors before the shell appears become one line on the page.

import { render, type ComponentChildren } from "preact";
import { learnKinds } from "../../layout/colors.ts";
import { learnNames } from "../../layout/short_name.ts";
import { initiallyFolded } from "../../layout/tracks.ts";
import { recordingOf } from "../../model/page/permalink.ts";
import { makeComparison, type Comparison } from "../../model/page/comparison.ts";
import { Workspace } from "../../model/page/workspace.ts";
import { readManifest, type Manifest } from "../../model/recording/manifest.ts";
import { readReport } from "../../model/recording/read_report.ts";
import { Recording } from "../../model/recording/recording.ts";
import { sourceName } from "../../model/recording/source_name.ts";
import { Viewer } from "../../model/page/viewer.ts";
import type { Progress } from "../../read/preparation.ts";
import type { Result } from "../../read/result.ts";
import { connection, isToken } from "../../read/connection.ts";
import { openSession, serverSources } from "../../read/server.ts";
import { hasDocument, pageSources, workerDecoder } from "../../read/single_file.ts";
import type { Source, Sources } from "../../read/source.ts";
import { syncAddress } from "./address.ts";
import { ChooseFile } from "./choose_file.tsx";
import { LostServer } from "./lost_server.tsx";
import { Preparing } from "./preparing.tsx";
import { Shell } from "./shell.tsx";

/** `chosen`: a page with the recording to show, if it is not this page. */
export async function start(page: Document, chosen?: Document): Promise<void> {
  const root = page.getElementById("app")!;
  const choose = (why: string, children?: ComponentChildren) => {
    root.replaceChildren();
    render(<ChooseFile why={why} onChoose={(other) => void start(page, other)}>{children}</ChooseFile>, root);
  };
  const problem = (line: string) => {
    render(null, root);
    root.replaceChildren(Object.assign(page.createElement("p"), { className: "notice", textContent: line }));
  };
  try {
    const sources = openSources(page, chosen ?? page);
    const showLost = () => workspaceShown || render(<LostServer words={null} />, root);
    let workspaceShown = false;
    connection.subscribe(showLost);
    const isAnswered = await sources.prepared("timeline", (progress) => {
      if (root.querySelector(".preparing") === null) root.replaceChildren();
      render(<Preparing progress={progress} />, root);
    });
    let shown: Viewer | null = null;
    const follow = (answer: Progress) => void shown?.set({ answer });
    const next = await open(sources.document, isAnswered ? null : answerOf(sources, follow));
    if (!next.ok) return problem(next.error);
    const comparison = await compared(sources, next.value);
    // Before anything is drawn, so that a kernel is called the same from the start.
    const viewers = [next.value, ...(comparison ? [comparison.base] : [])];
    const named = await Promise.all(viewers.map(({ recording }) => recording.names()));
    learnKinds(named.flat());
    learnNames(named.flat().flatMap(({ table, name }) => (table === "kernel" ? [name] : [])));
    const workspace = new Workspace(next.value, comparison);
    const names = workspace.viewers.map((viewer) => sourceName(viewer.recording.manifest));
    page.title = `${names.join(" vs. ")} · gpu-profile`;
    if (workspace.comparison !== null) next.value.startAt("comparison");
    if (!isAnswered) next.value.awaitAnswer();
    shown = next.value;
    const show = () => {
      syncAddress(workspace);
      render(null, root);
      root.replaceChildren();
      workspaceShown = true;
      render(<Shell workspace={workspace} />, root);
    };
    const wanted = recordingOf(location.hash);
    if (wanted === null || names.includes(wanted)) return show();
    const why = `This link is about ${wanted}; this page shows ${names.join(" and ")}.`;
    choose(why, <button onClick={show}>Show {names.at(-1)}</button>);
  } catch (error) {
    choose(error instanceof Error ? error.message : String(error));
  }
}

/** The manifest with the answer, once it is there. */
async function answerOf({ prepared, document }: Sources, show: (progress: Progress) => void): Promise<Manifest> {
  await prepared("answer", show);
  const manifest = readManifest(await document.manifest());
  if (!manifest.ok) throw new Error(manifest.error);
  return manifest.value;
}

async function open(source: Source, answer: Promise<Manifest> | null = null): Promise<Result<Viewer>> {
  const manifest = readManifest(await source.manifest());
  if (!manifest.ok) return manifest;
  const recording = new Recording(manifest.value, source, answer);
  const viewer = new Viewer(recording, initiallyFolded({ ...recording, tracks: manifest.value.tracks }));
  recording.chunks.onError = (line) => viewer.set({ problem: line });
  return { ok: true, value: viewer };
}

async function compared(sources: Sources, next: Viewer): Promise<Comparison | null> {
  const json = await sources.comparison();
  if (json === null) return null;
  const base = await open(sources.base);
  if (!base.ok) throw new Error(`cannot read the baseline: ${base.error}`);
  return makeComparison(base.value, next, readReport(json));
}

/** The address of a program that was started again, opened in this tab: the page is loaded from there, at the
    same place. */
function takeToken(event: HashChangeEvent): void {
  const token = new URL(event.newURL).hash.slice(1);
  if (!isToken(token)) return;
  event.stopImmediatePropagation();
  history.replaceState(history.state, "", event.oldURL);
  void openSession(token).then(() => location.reload(), () => {});
}

function openSources(page: Document, recorded: Document): Sources {
  const script = () => page.getElementById("viewer")?.textContent ?? "";
  if (hasDocument(recorded)) return pageSources(recorded, workerDecoder(script()));
  const advice = "To create a page with one, run: gpu-profile export html FILE -o OUT.html";
  if (!/^https?:$/.test(location.protocol)) throw new Error(`This page contains no recording. ${advice}`);
  const fragment = location.hash.slice(1);
  const token = fragment !== "" && !fragment.includes("=") ? fragment : null;
  if (token !== null) history.replaceState(null, "", location.pathname);
  addEventListener("hashchange", takeToken); // before the address is followed
  return serverSources(token, location.pathname);
}
