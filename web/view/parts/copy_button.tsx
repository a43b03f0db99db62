// A button that copies a text and confirms it.

import { useState } from "preact/hooks";
import { copyText } from "./clipboard.ts";

const CONFIRM_MS = 2000;

export function CopyButton({ text, label, title }: { text: () => string; label: string; title?: string }) {
  const [status, setStatus] = useState("");
  const copy = async () => {
    setStatus((await copyText(text())) ? "Copied" : "Copying was blocked by the browser");
    setTimeout(() => setStatus(""), CONFIRM_MS);
  };
  return (
    <button class="copy" title={title} onClick={() => void copy()}>
      {status === "" ? label : status}
      <span class="spoken" role="status">{status}</span>
    </button>
  );
}
