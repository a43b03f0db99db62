// The SQL page: the box with completion, recipes of the cookbook as examples, and the answer. Queries run in the
// program that serves the page; a page in a file says how to get one.

import { useEffect, useReducer } from "preact/hooks";
import recipes from "sql-cookbook";
import { grouped } from "../layout/time_text.ts";
import { SqlBox } from "../model/search/sql_box.ts";
import type { Viewer } from "../model/page/viewer.ts";
import type { SqlSchema } from "../read/sql_client.ts";
import { Command } from "./page/command.tsx";
import { CopyButton } from "./parts/copy_button.tsx";
import { Answer } from "./sql/answer.tsx";
import { Editor } from "./sql/editor.tsx";
import { useAsync, useSelector, useViewerState } from "./parts/use_state.ts";

const boxes = new WeakMap<Viewer, SqlBox>();

function boxOf(viewer: Viewer): SqlBox | null {
  const { sql } = viewer.recording;
  if (sql !== null && !boxes.has(viewer)) boxes.set(viewer, new SqlBox(sql));
  return boxes.get(viewer) ?? null;
}

export function SqlPage({ viewer }: { viewer: Viewer }) {
  const box = boxOf(viewer);
  return (
    <div class="sql-page">
      <h1>SQL over the recording</h1>
      {box === null ? <OnlyServed viewer={viewer} /> : <Box viewer={viewer} box={box} />}
    </div>
  );
}

function OnlyServed({ viewer }: { viewer: Viewer }) {
  const command = `gpu-profile view ${viewer.recording.manifest.source.words}`;
  return (
    <p class="only-served">
      This page is a file, and SQL needs the program. Where the recording is, run <Command text={command} />{" "}
      <CopyButton text={() => command} label="Copy" title="Copy this command" />
    </p>
  );
}

function Box({ viewer, box }: { viewer: Viewer; box: SqlBox }) {
  const { value: schema, error } = useAsync(() => viewer.recording.answered.then(() => box.server.schema()), box);
  const text = useViewerState(viewer, (state) => state.sql.text);
  const since = useSelector(box, (now) => now.runningSince);
  const result = useSelector(box, (now) => now.result);
  if (error !== undefined) return <p class="notice">SQL is not available: {error}</p>;
  if (schema === undefined) return <p class="notice">Reading the list of tables…</p>;
  const run = () => void (text.trim() !== "" && box.run(text));
  return (
    <>
      <div class="tools">
        {since === null ? (
          <button onClick={run} disabled={text.trim() === ""} title="Ctrl + Enter">Run</button>
        ) : (
          <button onClick={() => box.cancel()}>Cancel</button>
        )}
        <Recipes onChoose={(text) => viewer.set({ sql: { text } })} />
        <span role="status">
          {since !== null && <Elapsed box={box} since={since} />}
          {since === null && result !== null && "elapsed_s" in result && `${result.elapsed_s.toFixed(2)} s`}
        </span>
        <Limits schema={schema} />
      </div>
      <Editor schema={schema} text={text} onText={(text) => viewer.set({ sql: { text } })} onRun={run} />
      {result !== null && "problem" in result && (
        <p class="problem" role="alert">{result.problem}</p>
      )}
      {result !== null && "tables" in result && <Answer viewer={viewer} tables={result.tables} />}
    </>
  );
}

function Recipes({ onChoose }: { onChoose: (sql: string) => void }) {
  return (
    <label>
      Examples{" "}
      <select
        value=""
        onChange={(event) => {
          const recipe = recipes[Number(event.currentTarget.value)];
          event.currentTarget.value = "";
          if (recipe !== undefined) onChoose(recipe.sql);
        }}
      >
        <option value="">Choose a question</option>
        {recipes.map(({ question }, i) => (
          <option key={i} value={i}>{question}</option>
        ))}
      </select>
    </label>
  );
}

function Elapsed({ box, since }: { box: SqlBox; since: number }) {
  const [, draw] = useReducer((n: number, _: void) => n + 1, 0);
  useEffect(() => {
    const timer = setInterval(() => draw(), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor((performance.now() - since) / 1000);
  return <>{box.isCancelling ? "Cancelling" : "Running"}, {seconds} s</>;
}

function Limits({ schema: { limits } }: { schema: SqlSchema }) {
  return (
    <small class="quiet">
      Read-only. Up to {grouped(limits.rows)} rows, {limits.answer_bytes / (1024 * 1024)} MiB and {limits.seconds} s per
      query. Times are nanoseconds from the start of the recording.
    </small>
  );
}
