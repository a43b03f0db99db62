// The colours of the kinds of work in one or two recordings, the same in every picture.

import { codeOfKind, KINDS, kindOfWork } from "../../layout/colors.ts";
import type { Viewer } from "../../model/page/viewer.ts";
import { Swatch } from "./swatch.tsx";
import { useAsync } from "./use_state.ts";

export function KindLegend({ viewers }: { viewers: readonly Viewer[] }) {
  const read = () => Promise.all(viewers.map(({ recording }) => recording.names()));
  const { value: names = [] } = useAsync(read, viewers[0]);
  const present = new Set(names.flat().map(({ table, name }) => kindOfWork(table, name)));
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
