// When a change of what the page shows is an entry of the browser's history, and when it replaces the current one. What
// one action of the user causes (a click that opens a page and, once it is read, selects an event) is one entry; so is
// what is typed into one field without a pause. Panning and zooming change the current entry. A jump therefore leaves
// behind an entry with the former window.

import { changeBetween, linkOf, type Snapshot } from "./permalink.ts";

const SETTLED = 250; // ms without a change before the current entry is replaced; browsers limit how often it may be
const TYPING = 1000; // ms between letters: a longer one is a pause

export interface Entries {
  push(link: string): void;
  replace(link: string): void;
}

export interface Clock {
  now(): number; // ms
  /** Runs later, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
}

const CLOCK: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export class History {
  private before: Snapshot;
  private written: string; // the link of the current entry
  private cancel: () => void = () => {}; // the replacement that waits
  private actions = 0; // of the user
  private recorded = 0; // the action that the current entry belongs to
  private typed: { key: string | null; time: number } = { key: null, time: 0 };

  constructor(
    private readonly entries: Entries,
    private readonly now: () => Snapshot,
    link: string,
    private readonly clock: Clock = CLOCK,
  ) {
    this.before = now();
    this.written = link;
  }

  /** To be called when the user presses a key, clicks or chooses. */
  act(): void {
    this.actions++;
  }

  /** To be called after each change of what the page shows. */
  follow(): void {
    const { before } = this;
    const now = this.now();
    const { change, text } = changeBetween(before, now);
    this.before = now;
    if (change === null) return;
    const goesOn = change === "text" && text === this.typed.key && this.clock.now() - this.typed.time < TYPING;
    if (change !== "view") this.typed = { key: text, time: this.clock.now() };
    if (change === "view" || goesOn || this.actions === this.recorded) return this.replaceLater();
    this.replace(before); // with the window that the user leaves
    this.recorded = this.actions;
    this.written = linkOf(now);
    this.entries.push(this.written);
  }

  /** Whether an address is not the one of the current entry: the user went to another entry, or typed it. */
  isOther(link: string): boolean {
    return link !== this.written;
  }

  /** To be called before an entry is restored: what that causes belongs to this entry. */
  enter(link: string): void {
    this.written = link;
    this.recorded = this.actions;
    this.typed = { key: null, time: 0 };
    this.replaceLater();
  }

  private replaceLater(): void {
    this.cancel();
    this.cancel = this.clock.after(SETTLED, () => this.replace(this.now()));
  }

  private replace(snapshot: Snapshot): void {
    this.cancel();
    const link = linkOf(snapshot);
    if (link === this.written) return;
    this.written = link;
    this.entries.replace(link);
  }
}
