// The width of an element in css pixels, redrawn when it changes; 0 before the element is on the page.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { keepWidthInPrint } from "../page/printing.ts";

export const px = (value: number): string => `${value}px`;

export function useWidth<T extends Element>(): [RefObject<T | null>, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const target = element.current;
    if (target === null) return;
    let printing = false;
    const follow = () => printing || setWidth(target.getBoundingClientRect().width);
    follow();
    const release = keepWidthInPrint(target, (is) => (printing = is));
    const observer = new ResizeObserver(follow);
    observer.observe(target);
    return () => {
      observer.disconnect();
      release();
    };
  }, []);
  return [element, width];
}
