// What a saved picture says about itself besides its title: the recording, and the time that it covers.

import type { Caption } from "../../draw/picture.ts";
import { moment, unitFor } from "../../layout/time_text.ts";
import type { Comparison } from "../../model/page/comparison.ts";
import { reportedPart } from "../../model/table/row_navigation.ts";
import type { Range } from "../../model/recording/range.ts";
import type { Viewer } from "../../model/page/viewer.ts";

const nameOf = (viewer: Viewer): string => viewer.recording.manifest.source.file.split("/").pop()!;

/** "12.00 ms to 15.00 ms of 218.00 ms, times from the start of the recording". */
function rangeText({ from, to }: Range, whole: number): string {
  const step = Math.max(1, (to - from) / 1000);
  const unit = unitFor(to);
  const all = moment(whole, Math.max(1, whole / 1000));
  return `${moment(from, step, unit)} to ${moment(to, step, unit)} of ${all}, times from the start of the recording`;
}

/** Of a kernel, or of the part of the recording that the report covers. */
export function reportCaption(viewer: Viewer, title: string, kernel: string | null, about: string): Caption {
  const isTimed = viewer.recording.manifest.lanes.length > 0;
  const part = kernel ?? (isTimed ? rangeText(reportedPart(viewer.recording), viewer.length) : "");
  return { title, recording: nameOf(viewer), about: [about, part].filter((text) => text !== "").join(" · ") };
}

/** Of what differs between two recordings. */
export function differenceCaption({ base, next }: Comparison, title: string, about: string): Caption {
  return { title, recording: `BASE ${nameOf(base)}, NEW ${nameOf(next)}`, about };
}

/** Of the window that the timeline shows. */
export function viewCaption(viewer: Viewer, title = "Timeline"): Caption {
  return { title, recording: nameOf(viewer), about: rangeText(viewer.state.view, viewer.length) };
}
