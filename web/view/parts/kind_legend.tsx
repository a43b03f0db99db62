// The colours of the kinds of work in a recording, the same in every picture.

import { codeOfKind, KINDS, kindOfWork } from "../../layout/colors.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { Swatch } from "./swatch.tsx";
import { useAsync } from "./use_state.ts";

export function KindLegend({ viewer }: { viewer: Viewer }) {
  const { value: names = [] } = useAsync(() => viewer.recording.names(), viewer);
  const present = new Set(names.map(({ table, name }) => kindOfWork(table, name)));
  if (![...present].some((kind) => kind >= 0)) return null;
  return (
    <ul class="kinds" aria-label="Kinds of work">
      {KINDS.map((kind, at) => present.has(at) && (
        <li key={kind}>
          <Swatch code={codeOfKind(at)} letter="" /> {kind}
        </li>
      ))}
    </ul>
  );
}
