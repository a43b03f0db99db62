// How far the parts of a page are scrolled, as part of an entry of the browser's history. Back returns to a page whose
// contents may still be read, so restoring is tried until they are as long as they were, or something else is scrolled.

const PARTS = "main, main > *, main .scroller, main .grid";
const PATIENCE = 3000; // ms

/** Pixels from the top, of each part in the order of the page. */
export function scrollPlaces(): number[] {
  return [...document.querySelectorAll(PARTS)].map((part) => Math.round(part.scrollTop));
}

/** Returns a function that stops it. */
export function restoreScroll(places: readonly number[]): () => void {
  const abort = new AbortController();
  const until = performance.now() + PATIENCE;
  const attempt = () => {
    if (abort.signal.aborted) return;
    const parts = [...document.querySelectorAll(PARTS)];
    places.forEach((place, i) => parts[i]?.scrollTo({ top: place }));
    const isDone = places.every((place, i) => parts[i] !== undefined && Math.abs(parts[i]!.scrollTop - place) <= 1);
    if (!isDone && performance.now() < until) requestAnimationFrame(attempt);
  };
  for (const type of ["wheel", "pointerdown", "keydown"])
    addEventListener(type, () => abort.abort(), { signal: abort.signal, capture: true, passive: true });
  requestAnimationFrame(attempt);
  return () => abort.abort();
}

/** What an entry of the history holds; empty if that is nothing. */
export function placesOf(state: unknown): number[] {
  const places = (state as { scroll?: unknown } | null)?.scroll;
  return Array.isArray(places) && places.every((place) => typeof place === "number") ? places : [];
}
