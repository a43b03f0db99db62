// Commands that show more, each with a copy button.

import type { Report } from "../../model/recording/report.ts";
import { Command } from "../page/command.tsx";
import { CopyButton } from "../parts/copy_button.tsx";

export function NextSteps({ report }: { report: Report }) {
  if (report.next_steps.length === 0) return null;
  return (
    <section class="next" aria-label="Next steps">
      <h2>Next steps</h2>
      <ul>
        {report.next_steps.map((command) => (
          <li key={command}>
            <Command text={command} />
            <CopyButton text={() => command} label="Copy" title="Copy this command" />
          </li>
        ))}
      </ul>
    </section>
  );
}
