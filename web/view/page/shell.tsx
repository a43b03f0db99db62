// The frame of the page: the name of the recording or recordings, the pages, the theme switch. Each page is a component
// of (viewer) in a separate file and independent of the others.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sourceName } from "../../model/recording/source_name.ts";
import type { PageName } from "../../model/page/state.ts";
import { PAGES } from "../../model/page/state.ts";
import { sharedLink } from "../../model/page/permalink.ts";
import type { Workspace, Side } from "../../model/page/workspace.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { ComparisonPage } from "../comparison_page.tsx";
import { Pictured } from "../pictures/save_picture.tsx";
import { Overview } from "../overview_page.tsx";
import { Charts } from "../charts_page.tsx";
import { bindGlobalKeys, type DialogName } from "./global_keys.ts";
import { JobPage } from "../job_page.tsx";
import { LostServer } from "./lost_server.tsx";
import { KeyHelp } from "../timeline/key_help.tsx";
import { Kernels } from "../kernels_page.tsx";
import { Palette } from "./palette.tsx";
import { Phases } from "../phases_page.tsx";
import { AnswerLine } from "./preparing.tsx";
import { SqlPage } from "../sql_page.tsx";
import { Steps } from "../steps_page.tsx";
import { Tables } from "../tables_page.tsx";
import { ThemeSwitch } from "./theme_switch.tsx";
import { Timeline } from "../timeline/timeline.tsx";
import { rankOfPath } from "../../read/server.ts";
import { CopyButton } from "../parts/copy_button.tsx";
import { useAsync, useSelector, useViewerState } from "../parts/use_state.ts";

const LABELS: Record<PageName, string> = {
  comparison: "Comparison", job: "Job", overview: "Overview", timeline: "Timeline", phases: "Phases", steps: "Steps",
  kernels: "Kernels", tables: "Tables", charts: "Charts", sql: "SQL",
};

const COMPONENTS: Record<Exclude<PageName, "comparison">, ComponentType<{ viewer: Viewer }>> = {
  job: JobPage,
  overview: Overview,
  timeline: Timeline,
  phases: Phases,
  steps: Steps,
  kernels: Kernels,
  tables: Tables,
  charts: Charts,
  sql: SqlPage,
};

export function Shell({ workspace }: { workspace: Workspace }) {
  const viewer = useSelector(workspace, (now) => now.viewer);
  const page = useViewerState(viewer, (state) => state.page);
  useViewerState(viewer, (state) => state.answer === null || state.answer === "ready"); // which adds pages
  const { comparison } = workspace;
  const pages = PAGES.filter((each) => (each === "comparison" ? comparison !== null : hasContent(viewer, each)));
  const usual = pages.includes("overview") ? "overview" : pages[0]!;
  const name = pages.includes(page) ? page : usual;
  const Page = name === "comparison" ? null : COMPONENTS[name];
  return (
    <>
      <header class="bar">
        {comparison === null ? <FileName viewer={viewer} /> : <Sides workspace={workspace} isBoth={Page === null} />}
        {comparison === null && <RankSelect viewer={viewer} page={name} />}
        <nav aria-label="Pages">
          {pages.map((each, i) => (
            <button
              key={each} aria-current={each === name ? "page" : undefined} title={`${LABELS[each]} (${i + 1})`}
              aria-keyshortcuts={String(i + 1)} onClick={() => viewer.openPage(each)}
            >
              {LABELS[each]}
            </button>
          ))}
        </nav>
        <CopyButton text={() => linkHere(workspace)} label="Copy link" title="Copy a link to what is shown" />
        <ThemeSwitch />
      </header>
      <Dialogs viewer={viewer} pages={pages.map((each) => ({ page: each, label: LABELS[each] }))} />
      <LostServer words={viewer.recording.manifest.source.words} />
      {workspace.viewers.map((each, i) => (
        <Problem key={i} viewer={each} />
      ))}
      <AnswerLine viewer={viewer} />
      <main class={`page ${name}`} tabIndex={-1}>
        <Pictured.Provider value={viewer}>
          {Page === null ? <ComparisonPage comparison={comparison!} /> : <Page key={workspace.side} viewer={viewer} />}
        </Pictured.Provider>
      </main>
    </>
  );
}

function linkHere(workspace: Workspace): string {
  const name = sourceName(workspace.viewer.recording.manifest);
  return `${location.href.split("#")[0]}#${sharedLink(workspace.snapshot, name)}`;
}

/** Counters of kernels have no times: a file that has only these has no timeline and no charts. Summaries of ranks have
    a page of their own and, if their recordings fit, the timelines of all; everything else is a page of a rank. */
function hasContent({ recording: { manifest } }: Viewer, page: PageName): boolean {
  if (page === "job") return manifest.job !== null;
  if (manifest.job !== null)
    return page === "tables" || page === "sql" || (page === "timeline" && manifest.lanes.length > 0);
  if (page === "kernels") return manifest.kernels.length > 0;
  if (page === "phases") return manifest.iterations > 0;
  if (page === "steps") return manifest.lanes.some((lane) => lane.kind !== "value");
  return manifest.lanes.length > 0 || manifest.kernels.length === 0 || (page !== "timeline" && page !== "charts");
}

/** The dialogs that keys open on every page. */
function Dialogs({ viewer, pages }: { viewer: Viewer; pages: readonly { page: PageName; label: string }[] }) {
  const [open, setOpen] = useState<DialogName | null>(null);
  const names = pages.map(({ page }) => page);
  useEffect(() => bindGlobalKeys(viewer, names, setOpen), [viewer, names.join()]);
  const close = () => setOpen(null);
  if (open === "keys") return <KeyHelp onClose={close} />;
  return open === "palette" ? <Palette viewer={viewer} pages={pages} onClose={close} /> : null;
}

function FileName({ viewer }: { viewer: Viewer }) {
  return (
    <strong class="source" title={aboutFile(viewer)}>{sourceName(viewer.recording.manifest)}</strong>
  );
}

function aboutFile(viewer: Viewer): string {
  const { source, program } = viewer.recording.manifest;
  return `${source.file}, recorded by ${source.tool || "an unknown tool"}, imported as ${source.importer}; ${program}`;
}

/** Leads from a job to the recording of each of its ranks, from there to the same page of others, and back. */
function RankSelect({ viewer, page }: { viewer: Viewer; page: PageName }) {
  const { value: ranks } = useAsync(() => viewer.recording.openRanks().catch(() => null), viewer);
  if (!ranks || ranks.size === 0) return null;
  const own = rankOfPath(location.pathname);
  const place = own === null ? "" : `#page=${page}`;
  const open = (rank: string) => location.assign(rank === "" ? "/" : `/rank/${rank}/${place}`);
  return (
    <select aria-label="Recording" value={own ?? ""} onChange={(event) => open(event.currentTarget.value)}>
      <option value="">all ranks</option>
      {[...ranks].map((rank) => (
        <option key={rank} value={rank}>rank {rank}</option>
      ))}
    </select>
  );
}

/** The names of both recordings; on pages about one recording, buttons to switch between them. */
function Sides({ workspace, isBoth }: { workspace: Workspace; isBoth: boolean }) {
  const sides: [Side, Viewer][] = [
    ["base", workspace.comparison!.base],
    ["new", workspace.comparison!.next],
  ];
  const pressed = (side: Side) => ({ "aria-pressed": isBoth || workspace.side === side, disabled: isBoth });
  return (
    <div class="sides" role="group" aria-label="Recording">
      {sides.map(([side, viewer]) => (
        <button key={side} title={aboutFile(viewer)} {...pressed(side)} onClick={() => workspace.show(side)}>
          <strong>{side.toUpperCase()}</strong> <span>{sourceName(viewer.recording.manifest)}</span>
        </button>
      ))}
    </div>
  );
}

function Problem({ viewer }: { viewer: Viewer }) {
  const problem = useViewerState(viewer, (state) => state.problem);
  if (problem === null) return null;
  return (
    <p class="problem" role="alert">{problem} <button onClick={() => viewer.set({ problem: null })}>Dismiss</button></p>
  );
}
