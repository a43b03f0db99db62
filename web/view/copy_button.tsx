// A button that copies a text and confirms it.

import { useState } from "preact/hooks";
import { copyText } from "./clipboard.ts";

const SAID_FOR = 2000; // ms

export function CopyButton({ text, label, title }: { text: () => string; label: string; title?: string }) {
  const [said, say] = useState("");
  const copy = async () => {
    say((await copyText(text())) ? "Copied" : "Copying was blocked by the browser");
    setTimeout(() => say(""), SAID_FOR);
  };
  return (
    <button class="copy" title={title} onClick={() => void copy()}>
      {said === "" ? label : said}
      <span class="spoken" role="status">
        {said}
      </span>
    </button>
  );
}
