// Sample documents opened as the page opens them.

import assert from "node:assert/strict";
import { readManifest } from "../model/recording/manifest.ts";
import { Recording } from "../model/recording/recording.ts";
import type { Snapshot } from "../model/page/permalink.ts";
import type { State } from "../model/page/state.ts";
import { Viewer } from "../model/page/viewer.ts";
import { sourceOf, type BuiltDocument } from "./document.ts";
import { SAMPLES } from "./sample_documents.ts";

export function open(built: BuiltDocument): Recording {
  const manifest = readManifest(JSON.stringify(built.manifest));
  assert.ok(manifest.ok, manifest.ok ? "" : manifest.error);
  return new Recording(manifest.value, sourceOf(built));
}

export const opened = (name: string): Recording => open(SAMPLES[name]!());
export const viewerOf = (name: string): Viewer => new Viewer(opened(name));

/** What a page with one recording shows. */
export const alone = (state: State): Snapshot => ({ side: "new", shown: state, other: null });
