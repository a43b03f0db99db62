// Light or dark: as the system says until the person chooses; the choice lasts as long as the page. `data-theme` of the
// root element is what the style and the canvas follow, and `theme` events tell the canvas.

import { useState } from "preact/hooks";

export type Theme = "light" | "dark";

export function theme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function ThemeSwitch() {
  const [now, setNow] = useState(theme());
  const other = now === "dark" ? "light" : "dark";
  const change = () => {
    document.documentElement.dataset.theme = other;
    setNow(other);
    dispatchEvent(new Event("theme"));
  };
  return (
    <button class="theme" onClick={change} aria-label={`Switch to ${other}`} title={`Switch to ${other}`}>
      {other === "dark" ? "Dark" : "Light"}
    </button>
  );
}
