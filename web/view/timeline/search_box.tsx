// Search over all names: a list of matches with counts and times, and next and previous in time order. Matches are
// highlighted on the tracks.

import { useMemo, useRef, useState } from "preact/hooks";
import { plural, duration, grouped } from "../../layout/time_text.ts";
import { eventRefOf } from "../../model/page/details.ts";
import { findNames } from "../../model/search/highlight.ts";
import { matchOf } from "../../model/search/fuzzy.ts";
import { eventsOf, type Marks } from "../../model/search/marks.ts";
import { firstAbove, firstFrom } from "../../model/recording/slices.ts";
import type { Name } from "../../model/recording/names.ts";
import { findEvent, type Place } from "../../model/search/search.ts";
import { FILTERS, readQuery, type Query } from "../../model/search/search_query.ts";
import type { Selection } from "../../model/recording/range.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import type { Result } from "../../read/result.ts";
import { NameText } from "../parts/name_text.tsx";
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
  const matches = useViewerState(viewer, (state) => state.found.matches);
  const test = query === "" ? null : readQuery(query, viewer.recording.manifest);
  const found = test?.ok && matches !== null ? matches : [];
  const marks = useViewerState(viewer, (state) => state.found.marks);
  const selection = useViewerState(viewer, (state) => state.selection);
  const at = marks && selection && placeAmong(marks, selection);
  const place = at === null ? "" : `${grouped(at)} of `;

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
    if (among.length === 0) return setStatus("");
    const from = (place: Place) => findEvent(viewer.recording, among, place, by, filter);
    const further = await from(place);
    const event = further ?? (await from({ time: -by * Infinity, lane: -by * Infinity }));
    if (event) viewer.choose(eventRefOf(viewer.recording, event), true);
    setStatus(event && !further ? `continued at the ${by > 0 ? "start" : "end"}` : "");
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
  const choose = (name: Name) => {
    setOpen(false);
    onLeave();
    void step(1, name);
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
      <span class="quiet" role="status">
        {place}
        {statusOf(query, test, matches)}
        {status && `; ${status}`}
      </span>
      {open && found.length > 0 && (
        <Matches names={found} typed={query} onHide={() => setOpen(false)} onChoose={choose} />
      )}
    </div>
  );
}

interface MatchesProps {
  names: readonly Name[];
  typed: string;
  onHide: () => void;
  onChoose: (name: Name) => void;
}

function Matches({ names, typed, onHide, onChoose }: MatchesProps) {
  const ranked = useMemo(() => byMatch(names, typed), [names, typed]);
  return (
    <ul class="matches" aria-label="Matching names">
      <li class="hide">
        <button onClick={onHide}>Hide list</button>
      </li>
      {ranked.slice(0, SHOWN).map((name) => (
        <li key={`${name.table} ${name.name}`}>
          <button class="link" title={name.name} onClick={() => onChoose(name)}>
            <NameText name={name.name} typed={typed} />
          </button>
          <small>{name.table}: {plural(name.count, "event")}, {duration(name.total)}</small>
        </li>
      ))}
      {names.length > SHOWN && <li class="quiet">{grouped(names.length - SHOWN)} more names match; {INCLUDED}</li>}
    </ul>
  );
}

/** Names that are what was typed, or in which a word begins like it, come first; others, and those alike, by
    their time. */
function byMatch(found: readonly Name[], typed: string): Name[] {
  const rank = (name: Name) => Math.ceil((matchOf(name.name, typed)?.score ?? 0) / Math.max(1, typed.trim().length));
  return [...found].sort((a, b) => rank(b) - rank(a));
}

/** The place of the selected event among the marked ones, from 1; null if it is none of them. */
function placeAmong(marks: Marks, { lane, from }: Selection): number | null {
  const own = lane === null ? undefined : marks.get(lane);
  if (own === undefined || own[firstFrom(own, from)] !== from) return null;
  let before = 0;
  for (const [other, starts] of marks) before += other < lane! ? firstAbove(starts, from) : firstFrom(starts, from);
  return before + 1;
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
