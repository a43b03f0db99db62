// All keys of the page (?), by where they apply.

import { Dialog } from "../page/dialog.tsx";
import { GLOBAL_KEYS } from "../page/global_keys.ts";
import { KEYS } from "./keys.ts";

interface KeyLine {
  keys: string;
  what: string;
}

const SECTIONS: readonly [where: string, keys: readonly KeyLine[]][] = [
  ["Everywhere", GLOBAL_KEYS],
  ["Timeline", KEYS],
  [
    "Timeline, by touch",
    [
      { keys: "One finger", what: "Pan; on the ruler: measure a time range" },
      { keys: "Two fingers", what: "Zoom and pan" },
      { keys: "Tap", what: "Select an event" },
      { keys: "Long press, then drag", what: "Measure a time range" },
    ],
  ],
  [
    "Buttons of a track",
    [
      { keys: "← / →", what: "Previous / next button" },
      { keys: "↑ / ↓", what: "Track above / below" },
    ],
  ],
  [
    "Tables",
    [
      { keys: "↑ / ↓, PgUp / PgDn, Home / End", what: "Move the active row" },
      { keys: "Enter", what: "Show the row on the timeline, or on the page of its kernel" },
    ],
  ],
  [
    "Flame graph",
    [
      { keys: "Arrow keys", what: "Parent, child, neighbours" },
      { keys: "Enter / Esc", what: "Zoom to the box / out" },
    ],
  ],
  [
    "Heat map of a job",
    [
      { keys: "Arrow keys, PgUp / PgDn, Home / End", what: "Select a rank and a step" },
      { keys: "W / S, + / −, Ctrl + wheel", what: "Zoom in / out" },
      { keys: "Drag, Shift + arrow keys, A / D", what: "Pan, while a part is shown" },
      { keys: "Drag, with Shift while a part is shown", what: "Zoom to a box" },
      { keys: "0", what: "Show all ranks and steps" },
      { keys: "Two fingers", what: "Zoom and pan" },
    ],
  ],
];

export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keys" onClose={onClose}>
      <header>
        <h2>Keys</h2>
        <button onClick={onClose}>Close</button>
      </header>
      <div class="key-sections" tabIndex={0} role="group" aria-label="All keys">
        {SECTIONS.map(([where, keys]) => (
          <section key={where}>
            <h3>{where}</h3>
            <table>
              <tbody>
                {keys.map(({ keys, what }) => (
                  <tr key={keys}>
                    <th scope="row">{keys}</th>
                    <td>{what}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
