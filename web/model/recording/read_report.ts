// Reads the report of a document. The JSON may come from an untrusted file: members that are missing or of another type
// become null, "" or an empty list here, so that no page has to check.

import type { Cell, Finding, Report, ReportTable, Verdict } from "./report.ts";
import { list, maybeNumber, maybeText, object, text, type Json } from "../../read/json.ts";
import { readColumn } from "./manifest.ts";

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

/** Throws if the text is not JSON. */
export function readReport(json: string): Report {
  const raw = object(JSON.parse(json));
  return {
    tool: text(raw.tool),
    version: text(raw.version),
    trust: list(raw.trust).map((line) => ({ warning: line.warning === true, text: text(line.text) })),
    lead: texts(raw.lead),
    tables: list(raw.tables).map(readTable),
    findings: list(raw.findings).map(readFinding),
    verdict: raw.verdict === null || raw.verdict === undefined ? null : readVerdict(object(raw.verdict)),
    next_steps: texts(raw.next_steps),
  };
}

/** The tables of the page of a kernel. Throws if the text is not JSON. */
export function readTables(json: string): ReportTable[] {
  return list(object(JSON.parse(json)).tables).map(readTable);
}

function readTable(raw: Json): ReportTable {
  const rows: unknown[] = Array.isArray(raw.rows) ? raw.rows : [];
  return {
    name: text(raw.name),
    handle_prefix: maybeText(raw.handle_prefix),
    columns: list(raw.columns).map(readColumn),
    row_count: maybeNumber(raw.row_count) ?? rows.length,
    rows: rows.map((row) => (Array.isArray(row) ? row.map(readCell) : [])),
    notes: texts(raw.notes),
  };
}

function readCell(value: unknown): Cell {
  return typeof value === "number" || typeof value === "string" || typeof value === "boolean" ? value : null;
}

function readFinding(raw: Json): Finding {
  return {
    id: text(raw.id),
    severity: text(raw.severity),
    cost_ns: maybeNumber(raw.cost_ns),
    share_pct: maybeNumber(raw.share_pct),
    predicted: typeof raw.predicted === "object" && raw.predicted !== null,
    title: text(raw.title),
    evidence: typeof raw.evidence === "string" ? [raw.evidence] : texts(raw.evidence),
    remedy: text(raw.remedy),
    confidence: maybeText(raw.confidence),
    would_change_if: maybeText(raw.would_change_if),
  };
}

function readVerdict(raw: Json): Verdict {
  const limit = (each: Json) => ({
    name: text(each.name),
    share_pct: maybeNumber(each.share_pct),
    gives_back_pct: maybeNumber(each.gives_back_pct),
    because: text(each.because),
  });
  const [confidence, basis] = [maybeText(raw.confidence), maybeText(raw.basis)];
  const share_of = maybeText(raw.share_of) ?? "the window";
  const part = (each: Json) => ({
    text: text(each.text),
    time_ns: maybeNumber(each.time_ns),
    share_pct: maybeNumber(each.share_pct),
  });
  return {
    ...limit(raw),
    share_of,
    confidence,
    basis,
    alternatives: list(raw.alternatives).map(limit),
    title: maybeText(raw.title) ?? text(raw.name),
    whole_ns: maybeNumber(raw.whole_ns),
    recorder_ns: maybeNumber(raw.recorder_ns),
    parts: list(raw.parts).map(part),
  };
}

/** Of what has no report of its own. */
export const NO_REPORT: Report = readReport("{}");
