// A small table of figures with a head. Wide ones scroll by themselves, also with the keyboard, so that the page does
// not.

import type { ComponentChildren } from "preact";

interface Props {
  label: string; // for screen readers
  heads: readonly ComponentChildren[]; // of the columns
  children: ComponentChildren; // rows
}

export function FiguresTable({ label, heads, children }: Props) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={label}>
      <table class="figures">
        <thead>
          <tr>
            {heads.map((head, i) => (
              <th key={i} scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
