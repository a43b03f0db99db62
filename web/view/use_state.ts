// Components read the viewer's state through this hook and are drawn again when what they picked has changed.

import { useEffect, useReducer, useRef } from "preact/hooks";
import type { State } from "../model/state.ts";
import type { Viewer } from "../model/viewer.ts";

export function useViewer<T>(viewer: Viewer, pick: (state: State) => T): T {
  const [, draw] = useReducer((n: number, _: void) => n + 1, 0);
  const shown = useRef<T | undefined>(undefined);
  shown.current = pick(viewer.state);
  useEffect(() => viewer.subscribe(() => Object.is(pick(viewer.state), shown.current) || draw()), [viewer]);
  return shown.current;
}

/** The value of a promise; undefined until then, and the error's line when it fails. */
export function useLoaded<T>(load: () => Promise<T>, key: unknown): { value?: T; error?: string } {
  const [, draw] = useReducer((n: number, _: void) => n + 1, 0);
  const state = useRef<{ key: unknown; value?: T; error?: string } | undefined>(undefined);
  if (!state.current || !Object.is(state.current.key, key)) {
    const mine: { key: unknown; value?: T; error?: string } = { key };
    state.current = mine;
    load()
      .then((value) => void (mine.value = value))
      .catch((error: unknown) => void (mine.error = error instanceof Error ? error.message : String(error)))
      .finally(() => state.current === mine && draw());
  }
  return state.current;
}
