// Keeps the highlight of a viewer up to date with the names that were chosen or, without any, with the search: first
// the names, then, once they are found, the places of their events. A later change ends what an earlier one began.

import { collectMarks, eventsOf, MAX_MARKS } from "./marks.ts";
import type { Recording } from "./recording.ts";
import { matcher, search, type Name } from "./search.ts";
import type { State } from "./state.ts";

const MARK_AFTER = 150; // ms; waits for further letters of a search

type Highlight = Pick<State, "highlight" | "marks" | "unmarkedEvents">;

export const NO_HIGHLIGHT: Highlight = { highlight: null, marks: null, unmarkedEvents: 0 };

export class Highlighter {
  private turn = 0;

  constructor(
    private readonly recording: Recording,
    private readonly show: (change: Partial<Highlight>) => void,
  ) {}

  async follow({ highlighted, search }: State): Promise<void> {
    const mine = ++this.turn;
    const isCurrent = () => mine === this.turn;
    if (highlighted.length > 0) this.show({ ...NO_HIGHLIGHT, highlight: this.idsOf(highlighted) });
    else if (search === "") return this.show(NO_HIGHLIGHT);
    const names = await namesFor(this.recording, highlighted, search);
    if (!isCurrent()) return;
    if (highlighted.length === 0) this.show({ ...NO_HIGHLIGHT, highlight: names.length === 0 ? null : this.idsOf(names.map((each) => each.name)) });
    await new Promise((resume) => setTimeout(resume, MARK_AFTER));
    if (isCurrent()) await this.mark(names, isCurrent);
  }

  private async mark(names: readonly Name[], isCurrent: () => boolean): Promise<void> {
    const events = eventsOf(names);
    if (events > MAX_MARKS) return this.show({ unmarkedEvents: events });
    const marks = names.length === 0 ? null : await collectMarks(this.recording, names, isCurrent);
    if (marks !== null && isCurrent()) this.show({ marks });
  }

  private idsOf(names: readonly string[]): Set<number> {
    return new Set(names.map((name) => this.recording.strings.intern(name)));
  }
}

/** The chosen names, or those that a search finds. */
async function namesFor(recording: Recording, chosen: readonly string[], query: string): Promise<Name[]> {
  const names = await recording.names();
  if (chosen.length === 0) return matchingNames(names, query);
  const wanted = new Set(chosen);
  return names.filter((name) => wanted.has(name.name));
}

/** None if the query is empty or invalid. */
export function matchingNames(names: readonly Name[], query: string): Name[] {
  const test = matcher(query);
  return query !== "" && test.ok ? search(names, test.value) : [];
}
