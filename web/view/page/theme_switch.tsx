// Light or dark: the system's preference until the user chooses; the choice lasts as long as the page. The style and
// the canvas follow `data-theme` of the root element; a `theme` event reports a change. Printing always uses the light
// theme.

import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";

export function theme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** The current theme; redraws the component when it changes. */
export function useTheme(): Theme {
  const [now, setNow] = useState(theme());
  useEffect(() => {
    const follow = () => setNow(theme());
    addEventListener("theme", follow);
    return () => removeEventListener("theme", follow);
  }, []);
  return now;
}

/** undefined: the system's preference. */
function choose(theme: string | undefined): void {
  const { dataset } = document.documentElement;
  if (theme === undefined) delete dataset.theme;
  else dataset.theme = theme;
  dispatchEvent(new Event("theme"));
}

/** Runs `draw` with the page in a theme. The page is not shown in between: nothing here waits for a frame. */
export async function inTheme<T>(wanted: Theme, draw: () => T): Promise<T> {
  const before = document.documentElement.dataset.theme;
  const isSame = theme() === wanted;
  if (!isSame) choose(wanted);
  for (let turn = 0; turn < 8; turn++) await Promise.resolve(); // components redraw in microtasks
  try {
    return draw();
  } finally {
    if (!isSame) choose(before);
  }
}

function switchThemeForPrint(): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  let before: string | undefined;
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    choose("light");
  }, { signal });
  addEventListener("afterprint", () => choose(before), { signal });
  return () => abort.abort();
}

export function ThemeSwitch() {
  const other = useTheme() === "dark" ? "light" : "dark";
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const notify = () => dispatchEvent(new Event("theme"));
    system.addEventListener("change", notify);
    return () => system.removeEventListener("change", notify);
  }, []);
  useEffect(switchThemeForPrint, []);
  const change = () => choose(other);
  const label = `Switch to the ${other} theme`;
  return (
    <button class="theme" onClick={change} aria-label={label} title={label}>
      {other === "dark" ? "Dark" : "Light"}
    </button>
  );
}
