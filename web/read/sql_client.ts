// SQL at the program that serves the page: POST /sql starts a query, /sql/N has its state, and POST /sql/N/cancel ends
// it (docs/reference/formats/viewer.md). The program limits time and rows; a query that is never asked for again ends
// there too.

import { connection } from "./connection.ts";

export interface SqlColumn {
  name: string;
  unit: string;
  doc: string;
}

export interface SqlTable {
  name: string;
  doc: string;
  rows: number | null; // null: an analysis, which runs when it is first used
  columns: SqlColumn[];
}

export interface SqlSchema {
  limits: { rows: number; answer_bytes: number; sql_bytes: number; seconds: number };
  tables: SqlTable[];
  functions: { synopsis: string; doc: string }[];
}

/** What became of a query; `answer` is the JSON envelope of `gpu-profile query --format json`. */
export type SqlOutcome =
  { state: "done"; answer: unknown; elapsed_s: number } | { state: "failed"; problem: string } | { state: "cancelled" };

interface SqlRunning {
  state: "running" | "cancelling";
}

const isRunning = (reply: SqlOutcome | SqlRunning): reply is SqlRunning =>
  reply.state === "running" || reply.state === "cancelling";

const FIRST_PAUSE = 20; // ms; doubled with each request
const LONGEST_PAUSE = 400;
const POST = { method: "POST", headers: { "Content-Type": "application/sql" } };

const text = (reply: Response): Promise<string> => reply.text();

export class SqlServer {
  private schemaRead: Promise<SqlSchema> | undefined;

  constructor(private readonly path: string) {}

  schema(): Promise<SqlSchema> {
    this.schemaRead ??= this.ask<SqlSchema>("/schema");
    return this.schemaRead;
  }

  /** `cancelled`: aborting it cancels the query. */
  async run(sql: string, cancelled: AbortSignal): Promise<SqlOutcome> {
    const { status, body } = await connection.ask(this.path, text, { ...POST, body: sql });
    if (status === 413) return { state: "failed", problem: "the SQL is too long" };
    if (status === 409) return { state: "failed", problem: body.trim() };
    if (status >= 400) throw new Error(`gpu-profile view answered with status ${status}`);
    const { query } = JSON.parse(body) as { query: number };
    // The state below says what came of it.
    const cancel = () => void connection.ask(`${this.path}/${query}/cancel`, text, POST);
    if (cancelled.aborted) cancel();
    else cancelled.addEventListener("abort", cancel, { once: true });
    for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      const reply = await this.ask<SqlOutcome | SqlRunning>(`/${query}`);
      if (!isRunning(reply)) return reply;
      await new Promise((resume) => setTimeout(resume, pause));
    }
  }

  private async ask<T>(path: string): Promise<T> {
    const { status, body } = await connection.ask(this.path + path, text);
    if (status >= 400) throw new Error(`gpu-profile view answered with status ${status}`);
    return JSON.parse(body) as T;
  }
}
