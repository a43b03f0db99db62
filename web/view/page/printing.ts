// Whether the page is being printed: components that show a part of what they have, or size it by the screen, change
// for the paper. Browsers send no `beforeprint` when a developer tool emulates print, only a change of the media.

import { useEffect, useState } from "preact/hooks";

export const PRINT_WIDTH = 640; // css pixels across a printed page, without margins and padding

export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const media = matchMedia("print");
    addEventListener("beforeprint", () => setPrinting(true), { signal });
    addEventListener("afterprint", () => setPrinting(false), { signal });
    media.addEventListener("change", () => setPrinting(media.matches), { signal });
    setPrinting(media.matches); // it may have changed between the first drawing and this effect
    return () => abort.abort();
  }, []);
  return printing;
}

/** On paper an element that was drawn for a width keeps it, and is scaled to the page: nothing is drawn again between
    `beforeprint` and the paper. Returns the cleanup function. */
export function keepWidthInPrint(target: Element, onChange: (printing: boolean) => void): () => void {
  if (!(target instanceof HTMLElement)) return () => {};
  const abort = new AbortController();
  const { signal } = abort;
  let before = { width: "", zoom: "" };
  addEventListener("beforeprint", () => {
    const { width } = target.getBoundingClientRect();
    if (width <= PRINT_WIDTH) return;
    onChange(true);
    before = { width: target.style.width, zoom: target.style.zoom };
    Object.assign(target.style, { width: `${width}px`, zoom: String(PRINT_WIDTH / width) });
  }, { signal });
  addEventListener("afterprint", () => {
    Object.assign(target.style, before);
    onChange(false);
  }, { signal });
  return () => abort.abort();
}
