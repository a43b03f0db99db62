// The palette (Ctrl+K): pages, tracks, kernels and tables by a part of their name. The field keeps the focus; arrows
// move through the list, Enter goes there.

import { useMemo, useState } from "preact/hooks";
import { shortName } from "../../layout/short_name.ts";
import { plural } from "../../layout/time_text.ts";
import { kernelDestinations, pageDestinations, tableDestinations } from "../../model/search/destinations.ts";
import { trackDestinations, type Destination } from "../../model/search/destinations.ts";
import { fuzzySorted } from "../../model/search/fuzzy.ts";
import type { PageName } from "../../model/page/state.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { Dialog } from "./dialog.tsx";
import { NameText } from "../parts/name_text.tsx";
import { useAsync } from "../parts/use_state.ts";

const SHOWN = 50; // the others are counted

interface Props {
  viewer: Viewer;
  pages: readonly { page: PageName; label: string }[];
  onClose: () => void;
}

export function Palette({ viewer, pages, onClose }: Props) {
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState(0);
  const all = useDestinations(viewer, pages);
  const found = useMemo(() => fuzzySorted(all, ({ name }) => shortName(name), typed), [all, typed]);
  const shown = found.slice(0, SHOWN);
  const at = Math.min(active, shown.length - 1);
  const go = (destination: Destination | undefined) => {
    if (destination === undefined) return;
    onClose();
    destination.go();
  };
  const keys = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10 };
    const to = steps[event.key];
    if (to !== undefined) setActive(Math.min(Math.max(to, 0), Math.max(shown.length - 1, 0)));
    else if (event.key === "Enter") go(shown[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Go to" onClose={onClose}>
      <input
        type="text"
        autofocus
        role="combobox"
        aria-expanded={shown.length > 0}
        aria-controls="destinations"
        aria-autocomplete="list"
        aria-activedescendant={shown.length > 0 ? `destination-${at}` : undefined}
        aria-label="Go to a page, track, kernel or table"
        placeholder="Go to a page, track, kernel or table"
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={keys}
      />
      <ul id="destinations" class="destinations" role="listbox" aria-label="Destinations">
        {shown.map((destination, i) => {
          const key = `${i} ${destination.kind} ${destination.name}`;
          const choice = { at: i, destination, typed, isActive: i === at, onGo: () => go(destination) };
          return <Choice key={key} {...choice} />;
        })}
      </ul>
      <p class="quiet" role="status">
        {found.length === 0 ? "No matches" : plural(found.length, "match")}
        {found.length > SHOWN && `, the best ${SHOWN} are shown`}
      </p>
    </Dialog>
  );
}

function useDestinations(viewer: Viewer, pages: Props["pages"]): Destination[] {
  const { recording } = viewer;
  const { value: report } = useAsync(() => recording.report().catch(() => null), viewer);
  const { value: names } = useAsync(() => recording.names(), viewer); // which may be there earlier
  return useMemo(() => {
    const places = [...pageDestinations(viewer, pages), ...(report ? tableDestinations(viewer, report) : [])];
    if (!pages.some(({ page }) => page === "timeline")) return places;
    return [...places, ...trackDestinations(viewer), ...kernelDestinations(viewer, names ?? [])];
  }, [viewer, report, names]);
}

type ChoiceProps = { at: number; destination: Destination; typed: string; isActive: boolean; onGo: () => void };

function Choice({ at, destination, typed, isActive, onGo }: ChoiceProps) {
  const show = (element: HTMLLIElement | null) => void (isActive && element?.scrollIntoView({ block: "nearest" }));
  const option = { ref: show, role: "option" } as const;
  return (
    <li {...option} id={`destination-${at}`} aria-selected={isActive} title={destination.name} onClick={onGo}>
      <NameText name={destination.name} typed={typed} /> <small>{destination.kind}</small>
    </li>
  );
}
