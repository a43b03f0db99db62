// A menu of ways to save or copy, with a line that says what happened.

import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { useMenu } from "../parts/use_menu.ts";

const CONFIRM_MS = 4000;

export interface SaveAction {
  label: string;
  title: string;
  /** Says what was done, in a word or two; a failure is rejected with a one-line message. */
  run: (progress: (text: string) => void) => Promise<string>;
}

type SaveMenuProps = { about: string; actions: readonly SaveAction[]; children?: ComponentChildren };

export function SaveMenu({ about, actions, children }: SaveMenuProps) {
  const menu = useMenu();
  const [status, setStatus] = useState("");
  const run = async (action: SaveAction) => {
    try {
      setStatus(await action.run(setStatus));
    } catch (error) {
      setStatus(error instanceof Error ? error.message : String(error));
    }
    setTimeout(() => setStatus(""), CONFIRM_MS);
  };
  return (
    <details class="menu save" {...menu}>
      <summary aria-label={`Save ${about}`}>Save</summary>
      <div role="group" aria-label={`Save ${about}`}>
        {children}
        {actions.map((action) => (
          <button key={action.label} title={action.title} onClick={() => void run(action)}>{action.label}</button>
        ))}
        <span role="status">{status}</span>
      </div>
    </details>
  );
}
