// The bus between pages: the state, its listeners, and the commands "go there", "select this", "highlight these". Pages
// never access each other; they request what should be shown.

import { Highlighter } from "../search/highlight.ts";
import { eventRefOfRow } from "./details.ts";
import { firstPage } from "./first_page.ts";
import { withRange } from "../range/kept_ranges.ts";
import type { Recording } from "../recording/recording.ts";
import { PLAIN } from "../table/table_shape.ts";
import { around, clampRange, union, type Range, type Selection } from "../recording/range.ts";
import { changed, firstState, type PageName, type State, type StateChange } from "./state.ts";

/** A row of the timeline; a lane is one. */
export interface RowPlace {
  track: number;
  y: number;
}

export class Viewer {
  /** The allowed range of the window: the recording, or more while it is compared with a longer one. */
  private bounds: Range;
  private current: State;
  /** The state before anything was chosen: what an address without fields shows. */
  initial: State;
  private readonly highlighter: Highlighter;
  private readonly listeners = new Set<() => void>();
  private choices = 0; // made so far
  private unrevealed: RowPlace | null = null;

  constructor(
    readonly recording: Recording,
    collapsed: ReadonlySet<number> = new Set(),
  ) {
    this.bounds = { from: 0, to: recording.manifest.window_ns };
    this.highlighter = new Highlighter(recording, (found) => this.set({ found: { ...this.current.found, ...found } }));
    this.initial = changed(firstState(firstPage(recording.manifest), this.reported()), { timeline: { collapsed } });
    this.current = this.initial;
  }

  /** The part that the answer is about. */
  private reported(): Range {
    const { window_ns, part_ns } = this.recording.manifest;
    const [from, to] = part_ns ?? [0, window_ns];
    return clampRange({ from, to }, this.bounds);
  }

  /** The recording is shown before its answer is there: the timeline first. */
  awaitAnswer(): void {
    this.startAt("timeline");
    this.recording.answered.then(
      () => {
        const first = firstPage(this.recording.manifest);
        this.initial = { ...this.initial, page: first, view: this.reported() };
        this.set({ answer: this.current.page === first ? null : "ready" });
      },
      (error: Error) => this.set({ answer: null, problem: error.message }),
    );
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

  set(change: StateChange): void {
    const view = change.view ? { view: clampRange(change.view, this.bounds) } : {};
    const before = this.current;
    this.current = { ...changed(before, change), ...view };
    for (const listener of this.listeners) listener();
    if (before.search !== this.current.search || before.highlighted !== this.current.highlighted)
      void this.highlighter.follow(this.current);
  }

  /** Also allows the window inside `bounds`; null: only inside the recording. */
  setBounds(bounds: Range | null): void {
    const own = { from: 0, to: this.length };
    this.bounds = bounds === null ? own : union(own, bounds);
    this.set({ view: this.current.view });
  }

  /** Makes a page the first one. */
  startAt(page: PageName): void {
    this.initial = { ...this.initial, page };
    this.set({ page });
  }

  openPage(page: PageName): void {
    this.set({ page });
  }

  /** Shows a table of the report and, if given, one of its rows. */
  openTable(name: string, row: number | null = null): void {
    const isSame = this.current.tables.table?.name === name && row === null;
    this.set({ page: "tables", tables: { table: { name, row }, ...(isSame ? {} : { shape: PLAIN }) } });
  }

  /** Shows the page of a kernel with counters, by the launch that stands for it. */
  openKernel(launch: number | null, line: string | null = null): void {
    this.set({ page: "kernels", kernels: { launch, sampled: null, line } });
  }

  /** Shows the page of a kernel that has samples of instructions only. */
  openSampled(sampled: string, line: string | null = null): void {
    this.set({ page: "kernels", kernels: { launch: null, sampled, line } });
  }

  /** Shows a time span on the timeline; `mark` also measures it. */
  goTo(range: Range, mark = false): void {
    this.jump(around(range, 0.1), { page: "timeline", ...(mark ? { range } : {}) });
  }

  /** Shows another window as a step of the history, unlike panning and zooming. */
  jump(view: Range, change: StateChange = {}): void {
    this.set({ ...change, view, jumps: this.current.jumps + 1 });
  }

  /** Keeps the measured range under the next number. */
  keepRange(): void {
    const { kept, range } = this.current;
    if (range !== null) this.set({ kept: withRange(kept, range) });
  }

  /** Selects a row of a table and, with `show`, brings its slice into view. */
  async select(table: string, row: number, show = true): Promise<void> {
    const mine = ++this.choices;
    const selection = await eventRefOfRow(this.recording, table, row);
    if (mine !== this.choices) return; // something else has been selected since
    if (selection === null) return this.set({ problem: missing({ table, row }) });
    this.choose(selection, show);
  }

  choose(selection: Selection | null, show = false): void {
    this.choices++;
    const lane = selection?.lane ?? null;
    this.unrevealed = lane === null ? null : this.recording.manifest.lanes[lane]!;
    this.set({ selection, ...(selection && show ? { page: "timeline" as const, view: this.showing(selection) } : {}) });
  }

  /** Goes from what was highlighted to an event, which explains it and has another name. */
  follow(event: Selection): void {
    this.choose(event, true);
    this.highlight([]);
  }

  /** Goes to a track on the timeline. */
  showTrack(id: number): void {
    this.unrevealed = { track: id, y: 0 };
    this.set({ page: "timeline", timeline: { track: { id } } });
  }

  /** What is still to be brought into view: once for each event or track that was chosen, never for one that an address
      restored. */
  takeUnrevealed(): RowPlace | null {
    const taken = this.unrevealed;
    this.unrevealed = null;
    return taken;
  }

  /** Restores the selection of an address, without bringing it into view. */
  async restoreSelection(wanted: { table: string; row: number } | undefined): Promise<void> {
    const { selection } = this.current;
    const mine = ++this.choices;
    this.unrevealed = null;
    if (wanted === undefined) return this.set({ selection: null });
    if (selection !== null && selection.table === wanted.table && selection.row === wanted.row) return;
    const found = await eventRefOfRow(this.recording, wanted.table, wanted.row);
    if (mine === this.choices)
      this.set(found === null ? { selection: null, problem: missing(wanted) } : { selection: found });
  }

  /** Highlights the events of these names and dims the others; without names, those of the search if there is one. */
  highlight(names: readonly string[]): void {
    this.set({ highlighted: names });
  }

  /** Highlights what the text finds, instead of names that were chosen; an empty text clears the highlight. */
  search(text: string): void {
    this.set({ search: text, highlighted: [] });
  }

  /** Clears the search and the highlight; without any, the selection and the measured range. */
  clearNext(): void {
    const { search, highlighted } = this.current;
    if (search !== "" || highlighted.length > 0) return this.search("");
    this.choices++;
    this.set({ selection: null, range: null });
  }

  /** The window that shows a range: unchanged if the range is visible, otherwise moved or zoomed to it. */
  private showing(range: Range): Range {
    const { view } = this.current;
    const span = view.to - view.from;
    const visible = range.from >= view.from && range.to <= view.to && range.to - range.from > span / 200;
    return visible ? view : around(range, 2);
  }
}

const missing = ({ table, row }: { table: string; row: number }): string =>
  `Row ${row} of ${table} is not in this recording.`;
