// The recordings of a page, and which one is shown. All of them share the current page; a recording that opens another
// page becomes the one shown there.

import type { Comparison } from "./comparison.ts";
import type { Side, Snapshot } from "./permalink.ts";
import type { PageName } from "./state.ts";
import type { Viewer } from "./viewer.ts";

export type { Side } from "./permalink.ts";

export class Workspace {
  private shown: Viewer;
  private page: PageName;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly next: Viewer,
    readonly comparison: Comparison | null = null,
  ) {
    this.shown = next;
    this.page = next.state.page;
    for (const viewer of this.viewers) viewer.subscribe(() => this.follow(viewer));
  }

  get viewers(): Viewer[] {
    return this.comparison === null ? [this.next] : [this.next, this.comparison.base];
  }

  get viewer(): Viewer {
    return this.shown;
  }

  get side(): Side {
    return this.shown === this.next ? "new" : "base";
  }

  /** The recording that is not shown, of two. */
  get other(): Viewer | null {
    return this.viewers.find((viewer) => viewer !== this.shown) ?? null;
  }

  get snapshot(): Snapshot {
    return { side: this.side, shown: this.shown.state, other: this.other?.state ?? null };
  }

  show(side: Side): void {
    this.shown = side === "base" && this.comparison !== null ? this.comparison.base : this.next;
    this.notify();
  }

  /** Calls the listener on any change in any recording. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private follow(viewer: Viewer): void {
    const { page } = viewer.state;
    if (page !== this.page) {
      this.page = page;
      this.shown = page === "comparison" ? this.next : viewer;
      for (const other of this.viewers) if (other !== viewer) other.set({ page });
    }
    this.notify();
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}
