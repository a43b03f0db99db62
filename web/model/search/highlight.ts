// Keeps the highlight of a viewer up to date with the names that were chosen or, without any, with the search: first
// the names, then, once they are found, the places of their events. A later change ends what an earlier one began.

import { collectMarks, eventsOf, filteredNames, MAX_MARKS, type Marks } from "./marks.ts";
import type { Recording } from "../recording/recording.ts";
import type { Name } from "../recording/names.ts";
import { search } from "./search.ts";
import { readQuery, type EventFilter } from "./search_query.ts";

const MARK_AFTER = 150; // ms; waits for further letters of a search

interface Highlight {
  highlight: ReadonlySet<number> | null; // names in Strings; null: no highlight
  marks: Marks | null; // where highlighted events start, once known
  matches: readonly Name[] | null; // what the search finds; null: no search, or its events are not counted yet
  eventFilter: EventFilter | null; // of the search, for single events
  unmarkedEvents: number; // number of highlighted events if too many for marks, otherwise 0
}

const NO_MARKS = { marks: null, unmarkedEvents: 0, eventFilter: null };
export const NO_HIGHLIGHT: Highlight = { highlight: null, matches: null, ...NO_MARKS };

export class Highlighter {
  private turn = 0;

  constructor(
    private readonly recording: Recording,
    private readonly show: (change: Partial<Highlight>) => void,
  ) {}

  async follow({ highlighted, search }: { highlighted: readonly string[]; search: string }): Promise<void> {
    const mine = ++this.turn;
    const isCurrent = () => mine === this.turn;
    const isChosen = highlighted.length > 0;
    if (isChosen) this.show({ ...NO_HIGHLIGHT, highlight: this.idsOf(highlighted) });
    else if (search === "") return this.show(NO_HIGHLIGHT);
    const names = await this.recording.names();
    if (!isCurrent()) return;
    const { names: wanted, filter } = findNames(this.recording, names, search);
    const matches = search === "" || filter !== null ? null : wanted;
    const searched = isChosen ? {} : { ...this.highlightOf(wanted), ...NO_MARKS, eventFilter: filter };
    this.show({ matches, ...searched });
    await new Promise((resume) => setTimeout(resume, MARK_AFTER));
    const passing =
      filter === null || !isCurrent() ? wanted : await filteredNames(this.recording, wanted, filter, isCurrent);
    if (passing === null || !isCurrent()) return;
    if (filter !== null) this.show({ matches: passing, ...(isChosen ? {} : this.highlightOf(passing)) });
    const chosen = names.filter((name) => highlighted.includes(name.name));
    await (isChosen ? this.mark(chosen, null, isCurrent) : this.mark(passing, filter, isCurrent));
  }

  private async mark(names: readonly Name[], filter: EventFilter | null, isCurrent: () => boolean): Promise<void> {
    const events = eventsOf(names);
    if (events > MAX_MARKS) return this.show({ unmarkedEvents: events });
    const marks = events === 0 ? null : await collectMarks(this.recording, names, isCurrent, filter);
    if (marks !== null && isCurrent()) this.show({ marks });
  }

  private highlightOf(names: readonly Name[]): Partial<Highlight> {
    return { highlight: names.length === 0 ? null : this.idsOf(names.map((each) => each.name)) };
  }

  private idsOf(names: readonly string[]): Set<number> {
    return new Set(names.map((name) => this.recording.strings.intern(name)));
  }
}

type Found = { names: Name[]; filter: EventFilter | null };

/** The names that a search allows; none if it is empty or cannot be read. */
export function findNames({ manifest }: Recording, names: readonly Name[], typed: string): Found {
  const query = readQuery(typed, manifest);
  if (typed === "" || !query.ok) return { names: [], filter: null };
  return { names: search(names, query.value), filter: query.value.events };
}
