// Finds the recording (in the page or at the program that served it), reads its manifest and shows the shell. What goes
// wrong before there is anything to show becomes one line on the page.

import { render } from "preact";
import { foldedAtFirst } from "../layout/tracks.ts";
import { readManifest } from "../model/manifest.ts";
import { Recording } from "../model/recording.ts";
import { Viewer } from "../model/viewer.ts";
import { Server } from "../read/server.ts";
import { hasDocument, SingleFile, workerDecoder } from "../read/single_file.ts";
import type { Source } from "../read/source.ts";
import { followAddress } from "./address.ts";
import { Shell } from "./shell.tsx";

export async function start(page: Document): Promise<void> {
  const root = page.getElementById("app")!;
  const problem = (line: string) => {
    root.replaceChildren(Object.assign(page.createElement("p"), { className: "notice", textContent: line }));
  };
  try {
    const fragment = location.hash;
    const source = openSource(page);
    const manifest = readManifest(await source.manifest());
    if (!manifest.ok) return problem(manifest.error);
    const recording = new Recording(manifest.value, source);
    const viewer = new Viewer(recording, foldedAtFirst({ ...recording, tracks: manifest.value.tracks }));
    page.title = `${manifest.value.source.file.split("/").pop()} · gpu-profile`;
    viewer.recording.chunks.onError = (line) => viewer.set({ problem: line });
    followAddress(viewer, fragment);
    root.replaceChildren();
    render(<Shell viewer={viewer} />, root);
  } catch (error) {
    problem(error instanceof Error ? error.message : String(error));
  }
}

function openSource(page: Document): Source {
  if (hasDocument(page)) return new SingleFile(page, workerDecoder(page.getElementById("viewer")?.textContent ?? ""));
  if (!/^https?:$/.test(location.protocol)) throw new Error("This page is the viewer without a recording: gpu-profile export html FILE -o OUT.html writes one with it.");
  const fragment = location.hash.slice(1);
  const token = fragment !== "" && !fragment.includes("=") ? fragment : null;
  if (token !== null) history.replaceState(null, "", location.pathname);
  return new Server(token);
}
