// Chooses a step or a range: the named steps first, then ranges, then every step.

import { duration } from "../../layout/time_text.ts";
import type { StepEntry } from "../../model/range/step_entries.ts";

interface Props {
  label: string;
  entries: readonly StepEntry[];
  chosen: string | null; // null: none of them
  onChoose: (key: string) => void;
}

export function EntrySelect({ label, entries, chosen, onChoose }: Props) {
  return (
    <label>
      {label}{" "}
      <select aria-label={label} value={chosen ?? ""} onChange={(event) => onChoose(event.currentTarget.value)}>
        {chosen === null && <option value="">that of the pair</option>}
        {entries.map(({ key, name, range }) => (
          <option key={key} value={key}>{name} · {duration(range.to - range.from)}</option>
        ))}
      </select>
    </label>
  );
}
