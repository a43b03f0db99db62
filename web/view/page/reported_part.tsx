// A note that the report covers only a part of the recording, with a link to that part; empty if it covers all of it.

import { duration, moment } from "../../layout/time_text.ts";
import { reportedPart } from "../../model/table/row_navigation.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { Command } from "./command.tsx";

/** With `command`, also the command that reports on the whole recording. */
export function ReportedPart({ viewer, command = false }: { viewer: Viewer; command?: boolean }) {
  const { manifest } = viewer.recording;
  if (manifest.part_ns === null) return null;
  const part = reportedPart(viewer.recording);
  const step = manifest.window_ns / 1000;
  return (
    <p class="part">
      This report covers{" "}
      <button class="handle" onClick={() => viewer.goTo(part, true)}>
        {moment(part.from, step)} to {moment(part.to, step)}
      </button>{" "}
      of {duration(manifest.window_ns)}, the part with the most device work. The timeline shows the whole recording
      {command && (
        <>
          ; for a report on all of it, run <Command text={`gpu-profile report ${manifest.source.words} --whole`} />
        </>
      )}
      .
    </p>
  );
}
