// The SQL box of a recording: the running query, and the outcome of the last one. It outlives the page that shows it,
// so that a look at the timeline loses nothing.

import type { SqlOutcome, SqlServer } from "../../read/sql_client.ts";
import { answerTables } from "./sql_answer.ts";
import type { ReportTable } from "../recording/report.ts";

export type SqlResult = { sql: string; tables: ReportTable[]; elapsed_s: number } | { sql: string; problem: string };

export class SqlBox {
  result: SqlResult | null = null;
  runningSince: number | null = null; // by performance.now()
  private cancelled = new AbortController();
  private readonly listeners = new Set<() => void>();

  constructor(readonly server: SqlServer) {}

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Does nothing while a query is running. */
  async run(sql: string): Promise<void> {
    if (this.runningSince !== null) return;
    this.cancelled = new AbortController();
    this.runningSince = performance.now();
    this.changed();
    this.result = await this.outcome(sql);
    this.runningSince = null;
    this.changed();
  }

  cancel(): void {
    this.cancelled.abort();
    this.changed();
  }

  get isCancelling(): boolean {
    return this.runningSince !== null && this.cancelled.signal.aborted;
  }

  private async outcome(sql: string): Promise<SqlResult> {
    try {
      return resultOf(sql, await this.server.run(sql, this.cancelled.signal));
    } catch (error) {
      return { sql, problem: `The query got no answer: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}

function resultOf(sql: string, outcome: SqlOutcome): SqlResult {
  if (outcome.state === "done") return { sql, tables: answerTables(outcome.answer), elapsed_s: outcome.elapsed_s };
  return { sql, problem: outcome.state === "cancelled" ? "The query was cancelled." : outcome.problem };
}
