// The bus between pages: the state, its listeners, and the commands "go there", "select this", "highlight these". Pages
// never access each other; they request what should be shown.

import { collectMarks, eventsOf, MAX_MARKS } from "./marks.ts";
import type { Recording } from "./recording.ts";
import { PLAIN } from "./table_shape.ts";
import { around, clampRange, union, type PageName, type Range, type Selection, type State } from "./state.ts";

const MARK_AFTER = 150; // ms; waits for further letters of a search

export class Viewer {
  /** The allowed range of the window: the recording, or more while it is compared with a longer one. */
  private bounds: Range;
  private current: State;
  private readonly listeners = new Set<() => void>();
  private choices = 0; // made so far

  constructor(
    readonly recording: Recording,
    collapsed: ReadonlySet<number> = new Set(),
  ) {
    const { window_ns, part_ns } = recording.manifest;
    const part = part_ns === null ? { from: 0, to: window_ns } : { from: part_ns[0], to: part_ns[1] };
    this.bounds = { from: 0, to: window_ns };
    this.current = {
      page: recording.manifest.job === null ? "overview" : "job",
      view: clampRange(part, this.bounds),
      selection: null,
      range: null,
      highlight: null,
      marks: null,
      unmarkedEvents: 0,
      collapsed,
      hidden: new Set(),
      pinned: [],
      order: [],
      filter: "",
      table: null,
      tableShape: PLAIN,
      aligned: 0,
      kernel: null,
      launch: null,
      sampled: null,
      line: null,
      counterFilter: "",
      criticalPath: false,
      jobRank: null,
      jobStep: null,
      quantity: null,
      rowOrder: "rank",
      problem: null,
    };
  }

  get state(): State {
    return this.current;
  }

  get length(): number {
    return this.recording.manifest.window_ns;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  set(change: Partial<State>): void {
    const view = change.view ? { view: clampRange(change.view, this.bounds) } : {};
    this.current = { ...this.current, ...change, ...view };
    for (const listener of this.listeners) listener();
  }

  /** Also allows the window inside `bounds`; null: only inside the recording. */
  setBounds(bounds: Range | null): void {
    const own = { from: 0, to: this.length };
    this.bounds = bounds === null ? own : union(own, bounds);
    this.set({ view: this.current.view });
  }

  openPage(page: PageName): void {
    this.set({ page });
  }

  /** Shows a table of the report and, if given, one of its rows. */
  openTable(name: string, row: number | null = null): void {
    const isSame = this.current.table?.name === name && row === null;
    this.set({ page: "tables", table: { name, row }, ...(isSame ? {} : { tableShape: PLAIN }) });
  }

  /** Shows the page of a kernel with counters, by the launch that stands for it. */
  openKernel(launch: number | null, line: string | null = null): void {
    this.set({ page: "kernels", launch, sampled: null, line });
  }

  /** Shows the page of a kernel that has samples of instructions only. */
  openSampled(sampled: string, line: string | null = null): void {
    this.set({ page: "kernels", launch: null, sampled, line });
  }

  /** Shows a time span on the timeline; `mark` also measures it. */
  goTo(range: Range, mark = false): void {
    this.set({ page: "timeline", view: around(range, 0.1), ...(mark ? { range } : {}) });
  }

  /** Selects a row of a table and, with `show`, brings its slice into view. */
  async select(table: string, row: number, show = true): Promise<void> {
    const mine = ++this.choices;
    const selection = await this.locate(table, row);
    if (mine !== this.choices) return; // something else has been selected since
    if (selection === null) return this.set({ problem: `Row ${row} of ${table} is not in this recording.` });
    this.choose(selection, show);
  }

  choose(selection: Selection | null, show = false): void {
    this.choices++;
    this.set({ selection, ...(selection && show ? { page: "timeline" as const, view: this.showing(selection) } : {}) });
  }

  /** Highlights the events of these names and dims the others; an empty list clears the highlight. */
  highlight(names: readonly string[]): void {
    const { strings } = this.recording;
    const highlight = names.length === 0 ? null : new Set(names.map((name) => strings.intern(name)));
    this.set({ highlight, marks: null, unmarkedEvents: 0 });
    if (highlight !== null) void this.mark(new Set(names), highlight);
  }

  private async mark(wanted: ReadonlySet<string>, highlight: ReadonlySet<number>): Promise<void> {
    const names = (await this.recording.names()).filter((name) => wanted.has(name.name));
    await new Promise((resume) => setTimeout(resume, MARK_AFTER));
    const current = () => this.current.highlight === highlight;
    if (!current()) return;
    const events = eventsOf(names);
    if (events > MAX_MARKS) return this.set({ unmarkedEvents: events });
    const marks = await collectMarks(this.recording, names, current);
    if (marks !== null && current()) this.set({ marks });
  }

  private async locate(table: string, row: number): Promise<Selection | null> {
    const found = await this.recording.row(table, row);
    const from = found?.number("start") ?? null;
    if (found === null || from === null) return null;
    const name = found.value("name") ?? found.value("kind") ?? found.value("cause") ?? table;
    const lane = found.number("lane") ?? this.laneOfGap(table, found.number("device"));
    return { table, row, lane, from, to: from + (found.number("dur") ?? 0), name: String(name) };
  }

  /** Pieces of a gap are in lanes by cause, all in one row of the device's idle track; the first represents all. */
  private laneOfGap(table: string, device: number | null): number | null {
    const { lanes, tracks } = this.recording.manifest;
    const first = lanes.find((lane) => table === "gap" && lane.table === "gap" && (device === null || tracks[lane.track]?.device === device));
    return first?.id ?? null;
  }

  /** The window that shows a range: unchanged if the range is visible, otherwise moved or zoomed to it. */
  private showing(range: Range): Range {
    const { view } = this.current;
    const span = view.to - view.from;
    const visible = range.from >= view.from && range.to <= view.to && range.to - range.from > span / 200;
    return visible ? view : around(range, 2);
  }
}
