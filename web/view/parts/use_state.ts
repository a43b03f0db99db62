// Hooks that pick values from a source and redraw the component when they change.

import { useEffect, useReducer, useRef } from "preact/hooks";
import type { State } from "../../model/page/state.ts";
import type { Viewer } from "../../model/page/viewer.ts";

/** Anything that notifies listeners of changes. */
interface Subscribable {
  subscribe(listener: () => void): () => void;
}

export function useSelector<S extends Subscribable, T>(source: S, pick: (source: S) => T): T {
  const [, draw] = useReducer((n: number, _: void) => n + 1, 0);
  const shown = useRef<T | undefined>(undefined);
  shown.current = pick(source);
  useEffect(() => {
    const follow = () => void (Object.is(pick(source), shown.current) || draw());
    follow(); // for a change between the first drawing and this effect
    return source.subscribe(follow);
  }, [source]);
  return shown.current;
}

export const useViewerState = <T>(viewer: Viewer, pick: (state: State) => T): T =>
  useSelector(viewer, ({ state }) => pick(state));

/** The value of a promise, undefined until it resolves; the error message if it fails. */
export function useAsync<T>(load: () => Promise<T>, key: unknown): { value?: T; error?: string } {
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
