// Says that the program that serves this page has ended or was started again, until it answers.

import { useState } from "preact/hooks";
import { connection } from "../../read/connection.ts";
import { useSelector } from "../parts/use_state.ts";
import { Command } from "./command.tsx";

/** `words`: the recording, quoted for a shell; null: not read yet. */
export function LostServer({ words }: { words: string | null }) {
  const lost = useSelector(connection, (now) => now.lost);
  const [asking, setAsking] = useState(false);
  if (lost === null) return null;
  const retry = () => {
    setAsking(true);
    void connection.retry().finally(() => setAsking(false));
  };
  const command = `gpu-profile view ${words ?? "FILE"} --port ${location.port}`;
  return (
    <p class="problem lost" role="alert">
      {lost === "ended" ? (
        <>
          gpu-profile ended; start it again with <Command text={command} /> and open the address that it prints in this
          tab.{" "}
        </>
      ) : (
        <>gpu-profile was started again: open the address that it printed in this tab. </>
      )}
      The page stays where it is. <button disabled={asking} onClick={retry}>Retry</button>
    </p>
  );
}
