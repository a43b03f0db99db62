// Says that the report is about a part of the recording, and leads to it; nothing where it is about all of it.

import { duration, moment } from "../layout/time_text.ts";
import { partOf } from "../model/row_places.ts";
import type { Viewer } from "../model/viewer.ts";
import { Command } from "./command.tsx";

/** With `command`, also how to ask about the whole. */
export function Part({ viewer, command = false }: { viewer: Viewer; command?: boolean }) {
  const { manifest } = viewer.recording;
  if (manifest.part_ns === null) return null;
  const part = partOf(viewer.recording);
  const step = manifest.window_ns / 1000;
  return (
    <p class="part">
      This is about{" "}
      <button class="handle" onClick={() => viewer.goTo(part, true)}>
        {moment(part.from, step)} to {moment(part.to, step)}
      </button>{" "}
      of {duration(manifest.window_ns)}, the part with most work. The timeline holds all of it
      {command && (
        <>
          , and <Command text={`gpu-profile report ${manifest.source.words} --whole`} /> answers for all of it
        </>
      )}
      .
    </p>
  );
}
