// The frame of a chart: title, one sentence about it, and the chart or the reason why it is missing.

import type { ComponentChildren } from "preact";
import { SavePicture } from "../pictures/save_picture.tsx";
import type { Viewer } from "../../model/page/viewer.ts";
import { noteOf, type Report } from "../../model/recording/report.ts";

/** The properties of every chart. */
export interface ChartProps {
  viewer: Viewer;
  report: Report;
}

interface Props {
  id: string;
  title: string;
  about: ComponentChildren;
  hint?: string | undefined; // what a click does; not in saved pictures
  children: ComponentChildren;
  tools?: ComponentChildren;
}

export function ChartSection({ id, title, about, hint, tools, children }: Props) {
  return (
    <section class="chart-section" id={id} aria-label={title}>
      <SavePicture title={title} />
      <h2>{title}</h2>
      {tools}
      {(about !== "" || hint !== undefined) && (
        <p class="about">{about} {hint !== undefined && <span data-unsaved>{hint}</span>}</p>
      )}
      {children}
    </section>
  );
}

type MissingChartProps = { id: string; title: string; report: Report; table: string; otherwise: string };

export const NO_KERNELS = { table: "kernels", otherwise: "No kernels were recorded." };

/** Shown in place of a chart: the note of the analysis that it needs, otherwise a default sentence. */
export function MissingChart({ id, title, report, table, otherwise }: MissingChartProps) {
  return (
    <section class="chart-section missing" id={id} aria-label={title}>
      <h2>{title}</h2> <p class="about">{noteOf(report, table) ?? otherwise}</p>
    </section>
  );
}
