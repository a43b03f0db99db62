// The report inside a document: the JSON envelope of `gpu-profile report FILE --format json` (docs/commands/report.md)
// with the first answer and every analysis. Members that are missing are empty lists or null.

export interface ReportColumn {
  name: string;
  type: "integer" | "real" | "text" | "flag" | string;
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
  title: string;
  evidence: string;
  remedy: string;
  confidence: string | null;
  would_change_if: string | null;
}

export interface Verdict {
  name: string;
  share_pct: number | null;
  gives_back_pct: number | null;
  because: string;
  alternatives: { name: string; share_pct: number | null; gives_back_pct: number | null; because: string }[];
}

export interface Report {
  tool: string;
  version: string;
  trust: { warning: boolean; text: string }[];
  tables: ReportTable[];
  findings: Finding[];
  verdict: Verdict | null;
  next_steps: string[];
}

export function readReport(json: string): Report {
  const raw = JSON.parse(json) as Partial<Report>;
  return {
    tool: raw.tool ?? "",
    version: raw.version ?? "",
    trust: raw.trust ?? [],
    tables: raw.tables ?? [],
    findings: raw.findings ?? [],
    verdict: raw.verdict ?? null,
    next_steps: raw.next_steps ?? [],
  };
}

export interface Pictures {
  slices: number;
  devices: { device: number; busy: number[] }[];
}
