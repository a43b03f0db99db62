// The frame of a picture: its title, what it shows in a sentence, and the picture, or why there is none.

import type { ComponentChildren } from "preact";
import { noteOf, type Report } from "../../model/report.ts";

interface Props {
  id: string;
  title: string;
  about: ComponentChildren;
  children: ComponentChildren;
  tools?: ComponentChildren;
}

export function Picture({ id, title, about, tools, children }: Props) {
  return (
    <section class="picture" id={id} aria-label={title}>
      <h2>{title}</h2>
      {tools}
      <p class="about">{about}</p>
      {children}
    </section>
  );
}

/** In place of a picture: the note of the analysis that it needs, else a sentence of its own. */
export function Missing({ id, title, report, table, otherwise }: { id: string; title: string; report: Report; table: string; otherwise: string }) {
  return (
    <section class="picture missing" id={id} aria-label={title}>
      <h2>{title}</h2>
      <p class="about">Not drawn: {noteOf(report, table) ?? otherwise}</p>
    </section>
  );
}
