// A modal dialog: the browser keeps the focus inside and returns it afterwards, to the page if what had it is gone.
// Escape closes it at once. The browser's own "close" event comes later, when another dialog may be open already.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  label: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** Where what had the focus is gone, because another page is shown, the page has it. */
export function focusPage(): void {
  if (document.activeElement === document.body)
    (document.querySelector<HTMLElement>("main canvas[tabindex]") ?? document.querySelector("main"))?.focus();
}

export function Dialog({ label, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current!;
    shown.showModal();
    return () => {
      shown.close();
      requestAnimationFrame(() => requestAnimationFrame(focusPage));
    };
  }, []);
  const leave = (event: MouseEvent) => event.target === dialog.current && onClose();
  const closed = () => dialog.current !== null && onClose();
  const keys = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={dialog} class="dialog" aria-label={label} onClose={closed} onClick={leave} onKeyDown={keys}>
      <div class="dialog-content">{children}</div>
    </dialog>
  );
}
