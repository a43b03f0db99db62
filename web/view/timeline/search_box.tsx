// Search over all names: a list of matches with counts and times, and next and previous in time order. Matches are
// highlighted on the tracks.

import { useRef, useState } from "preact/hooks";
import { plural, duration, grouped } from "../../layout/time_text.ts";
import { eventRefOf } from "../../model/page/details.ts";
import { findNames } from "../../model/search/highlight.ts";
import { eventsOf } from "../../model/search/marks.ts";
import { findEvent, type Name } from "../../model/search/search.ts";
import { FILTERS, readQuery, type Query } from "../../model/search/search_query.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import type { Result } from "../../read/result.ts";
import { useViewerState } from "../parts/use_state.ts";

const SHOWN = 100; // names in the list; the rest are only counted

export interface SearchHandle {
  focus(): void;
  step(by: 1 | -1): void;
}

interface Props {
  viewer: Viewer;
  handle: { current: SearchHandle | null };
  onLeave: () => void; // moves the focus to the timeline; the text stays
}

const INCLUDED = "the buttons for the next and previous match include them.";

export function SearchBox({ viewer, handle, onLeave }: Props) {
  const query = useViewerState(viewer, (state) => state.search);
  const [status, setStatus] = useState("");
  const [open, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const matches = useViewerState(viewer, (state) => state.matches);
  const test = query === "" ? null : readQuery(query, viewer.recording.manifest);
  const found = test?.ok && matches !== null ? matches : [];

  const change = (text: string) => {
    setStatus("");
    setOpen(text !== "");
    viewer.search(text);
  };
  const step = async (by: 1 | -1, only?: Name) => {
    const { names, filter } = findNames(viewer.recording, await viewer.recording.names(), viewer.state.search);
    const among = only ? [only] : names;
    const { selection, view } = viewer.state;
    const edge = by > 0 ? { time: view.from, lane: -1 } : { time: view.to, lane: Infinity };
    const place = selection ? { time: selection.from, lane: selection.lane ?? -1 } : edge;
    const event = among.length === 0 ? null : await findEvent(viewer.recording, among, place, by, filter);
    if (event) viewer.choose(eventRefOf(viewer.recording, event), true);
    const none = by > 0 ? "No later matches" : "No earlier matches";
    setStatus(event || among.length === 0 ? "" : none);
  };
  handle.current = {
    focus: () => input.current?.select(),
    step: (by) => void step(by),
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault(); // Escape would empty the field
    setOpen(false);
    onLeave();
    if (event.key === "Enter") void step(event.shiftKey ? -1 : 1);
  };
  const stepper = (by: 1 | -1) => ({ onClick: () => void step(by), disabled: found.length === 0 });
  return (
    <div class="search" role="search">
      <input
        ref={input}
        type="search"
        value={query}
        placeholder="Search events (press /)"
        aria-label="Search events (press /): text, /regular expression/ or filters"
        title={`Text, /regular expression/, or filters: ${FILTERS}`}
        onInput={(event) => change(event.currentTarget.value)}
        onFocus={() => setOpen(query !== "")}
        onKeyDown={keys}
      />
      <button {...stepper(-1)} aria-label="Previous match" title="Previous match (Shift+N)">‹</button>
      <button {...stepper(1)} aria-label="Next match" title="Next match (N)">›</button>
      <span class="quiet" role="status">{status || statusOf(query, test, matches)}</span>
      {open && found.length > 0 && (
        <ul class="matches" aria-label="Matching names">
          <li class="hide">
            <button onClick={() => setOpen(false)}>Hide list</button>
          </li>
          {found.slice(0, SHOWN).map((name) => (
            <li key={`${name.table} ${name.name}`}>
              <button class="link" title={name.name} onClick={() => void step(1, name)}>{name.name}</button>
              <small>{name.table}: {plural(name.count, "event")}, {duration(name.total)}</small>
            </li>
          ))}
          {found.length > SHOWN && (
            <li class="quiet">{grouped(found.length - SHOWN)} more names match; {INCLUDED}</li>
          )}
        </ul>
      )}
    </div>
  );
}

/** The number of matches and what the filters limit them to, or why there are none. */
function statusOf(query: string, test: Result<Query> | null, matches: readonly Name[] | null): string {
  if (test === null) return "";
  if (!test.ok) return test.error;
  if (matches === null) return test.value.events === null ? "Reading names…" : "Counting…";
  const limits = test.value.limits.length === 0 ? "" : ` (${test.value.limits.join(", ")})`;
  if (matches.length > 0) return `${plural(eventsOf(matches), "event")}, ${plural(matches.length, "name")}${limits}`;
  return `No matches${limits}${/(^|\s)\w+:(?!:)/.test(query) && limits === "" ? `; filters are ${FILTERS}` : ""}`;
}
