// The report in a document: the JSON envelope of `gpu-profile report FILE --format json`
// (docs/reference/commands/report.md) with the first answer and every analysis, or that of `compare`. Missing members
// are empty lists or null.

export interface ReportColumn {
  name: string;
  heading?: string; // absent: from the name, see heading.ts
  type: "integer" | "real" | "text" | "boolean" | string;
  unit: string | null;
  doc: string;
}

export type Cell = number | string | boolean | null;

export interface ReportTable {
  name: string;
  handle_prefix: string | null;
  columns: ReportColumn[];
  row_count: number; // before a limit; rows may hold fewer
  rows: Cell[][];
  notes: string[];
}

export interface Finding {
  id: string;
  severity: string;
  cost_ns: number | null;
  share_pct: number | null;
  predicted: boolean; // by a replay; share_pct is of a step then
  title: string;
  evidence: string[];
  remedy: string;
  confidence: string | null;
  would_change_if: string | null;
}

export interface Verdict {
  name: string;
  share_of: string; // "the window" or "the critical path"
  share_pct: number | null;
  gives_back_pct: number | null;
  confidence: string | null;
  basis: string | null;
  because: string;
  alternatives: { name: string; share_pct: number | null; gives_back_pct: number | null; because: string }[];
  title: string; // the name for people
  whole_ns: number | null; // what shares are of: a step without the recorder's cost, or the window of one device
  recorder_ns: number | null; // what recording added to it
  parts: { text: string; time_ns: number | null; share_pct: number | null }[];
}

export interface Report {
  tool: string;
  version: string;
  trust: { warning: boolean; text: string }[];
  lead: string[]; // for a comparison: the verdict, the reason, and the attribution
  tables: ReportTable[];
  findings: Finding[];
  verdict: Verdict | null;
  next_steps: string[];
}

export function tableOf(report: Report, name: string): ReportTable | null {
  return report.tables.find((table) => table.name === name) ?? null;
}

/** The values of one column; null if the table has no such column. */
export function columnOf(table: ReportTable, name: string): Cell[] | null {
  const at = table.columns.findIndex((column) => column.name === name);
  return at < 0 ? null : table.rows.map((row) => row[at] ?? null);
}

export function cellOf(table: ReportTable, row: number, name: string): Cell {
  const at = table.columns.findIndex((column) => column.name === name);
  return table.rows[row]?.[at] ?? null;
}

export function numberOf(table: ReportTable, row: number, name: string): number | null {
  const cell = cellOf(table, row, name);
  return typeof cell === "number" ? cell : null;
}

export function textOf(table: ReportTable, row: number, name: string): string | null {
  const cell = cellOf(table, row, name);
  return typeof cell === "string" ? cell : null;
}

/** The note of an analysis, for instance why it has no rows. */
export function noteOf(report: Report, name: string): string | null {
  return tableOf(report, name)?.notes[0] ?? null;
}

export interface BusyShares {
  slices: number;
  devices: { device: number; busy: number[] }[];
}
