// Offers to choose the file of a recording where a link leads to a page without it: a viewer without a recording, a
// server that does not know the page, or the page of another recording.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { hasDocument } from "../../read/single_file.ts";

type ChooseFileProps = { why: ComponentChildren; onChoose: (page: Document) => void; children?: ComponentChildren };

export function ChooseFile({ why, onChoose, children }: ChooseFileProps) {
  const [status, setStatus] = useState("");
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    setStatus(`Reading ${file.name}…`);
    const page = new DOMParser().parseFromString(await file.text(), "text/html");
    if (hasDocument(page)) onChoose(page);
    else setStatus(`${file.name} contains no recording; choose a page written by gpu-profile export html.`);
  };
  return (
    <main class="notice choose-file">
      <p>{why}</p>
      <label>
        Open a page of the recording, written by <code>gpu-profile export html</code>:{" "}
        <input
          type="file" accept=".html,text/html" onChange={(event) => void read(event.currentTarget.files?.[0])}
        />
      </label>{" "}
      {children}
      <p role="status">{status}</p>
    </main>
  );
}
