// The frame of the page: name of the recording, the pages, light or dark. Each page is a component of (viewer) in its
// own file and knows nothing of the others.

import type { ComponentType } from "preact";
import type { PageName } from "../model/state.ts";
import { PAGES } from "../model/state.ts";
import type { Viewer } from "../model/viewer.ts";
import { Overview } from "./overview.tsx";
import { Pictures } from "./pictures.tsx";
import { Tables } from "./tables.tsx";
import { ThemeSwitch } from "./theme_switch.tsx";
import { Timeline } from "./timeline.tsx";
import { useViewer } from "./use_state.ts";

const COMPONENTS: Record<PageName, ComponentType<{ viewer: Viewer }>> = {
  overview: Overview,
  timeline: Timeline,
  tables: Tables,
  pictures: Pictures,
};

export function Shell({ viewer }: { viewer: Viewer }) {
  const page = useViewer(viewer, (state) => state.page);
  const problem = useViewer(viewer, (state) => state.problem);
  const { source, program } = viewer.recording.manifest;
  const Page = COMPONENTS[page];
  return (
    <>
      <header class="bar">
        <strong class="source" title={`${source.file}, recorded by ${source.tool || "an unknown tool"}, read as ${source.importer}; ${program}`}>
          {source.file.split("/").pop()}
        </strong>
        <nav aria-label="Pages">
          {PAGES.map((name) => (
            <button key={name} aria-current={name === page ? "page" : undefined} onClick={() => viewer.openPage(name)}>
              {name[0]!.toUpperCase() + name.slice(1)}
            </button>
          ))}
        </nav>
        <ThemeSwitch />
      </header>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem} <button onClick={() => viewer.set({ problem: null })}>Dismiss</button>
        </p>
      )}
      <main class={`page ${page}`}>
        <Page viewer={viewer} />
      </main>
    </>
  );
}
