// The rows of a table that pass its filter, in order. At once for tables whose rows are in memory; otherwise the rows
// shown before stay until all rows have been read.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Result } from "../../read/result.ts";
import type { ReportTable } from "../../model/recording/report.ts";
import type { TableRows } from "../../model/table/table_rows.ts";
import { shapeRows, shapeWhole, type ShownRows, type TableShape } from "../../model/table/table_shape.ts";

export interface Shaped {
  shown: ShownRows;
  problem: string | null; // of the filter, or of reading
  read: number | null; // rows read so far; null: all that are needed
}

export function useShownRows(table: ReportTable, source: TableRows, shape: TableShape): Shaped {
  const { filter, sort, group } = shape;
  const all = useMemo((): ShownRows => {
    return { table, source, rows: Uint32Array.from({ length: source.length }, (_, row) => row) };
  }, [table, source]);
  const by = [table, source, filter, sort, group];
  const whole = useMemo(() => (source.isWhole ? shapeWhole(table, source, shape) : null), by);
  const [read, setRead] = useState<Shaped>({ shown: all, problem: null, read: null });
  useEffect(() => {
    if (source.isWhole) return;
    let current = true;
    const done = (found: Result<ShownRows>) => current && setRead(({ shown }) => shaped(found, shown));
    const progress = (rows: number) => {
      if (current) setRead((before) => ({ ...before, read: rows }));
      return current;
    };
    shapeRows(table, source, shape, progress).then(done, (error: unknown) => done({ ok: false, error: String(error) }));
    return () => void (current = false);
  }, by);
  return whole === null ? read : shaped(whole, all);
}

const shaped = (found: Result<ShownRows>, otherwise: ShownRows): Shaped =>
  ({ shown: found.ok ? found.value : otherwise, problem: found.ok ? null : found.error, read: null });
