// Exposed communication by GPU and step, from the analysis `communication`.

import type { Recording } from "./recording.ts";
import type { Cell, ReportTable } from "./report.ts";

export interface CommunicationCell {
  row: number; // of the analysis
  comm: number; // ns
  exposed: number;
  collective: string | null; // with the most exposed time
  collectiveTime: number;
  behind: string | null; // the kernel that hides most
  behindTime: number;
  start: number | null; // of the step; null: outside all steps
  dur: number | null;
}

export interface StepCommunication {
  name: string | null; // null: outside all steps
  start: number | null;
  cells: (CommunicationCell | null)[]; // by index of `devices`
}

export interface Communication {
  devices: number[];
  steps: StepCommunication[]; // in order of time, what is outside all steps last
  totals: { comm: number; exposed: number }[]; // by index of `devices`
}

const COLUMNS = [
  "device", "step", "start_ns", "dur_ns", "comm_ns", "exposed_ns", "collective", "collective_ns", "behind",
  "behind_ns",
];

const numberIn = (cell: Cell | undefined): number => (typeof cell === "number" ? cell : 0);
const textIn = (cell: Cell | undefined): string | null => (typeof cell === "string" ? cell : null);
const maybe = (cell: Cell | undefined): number | null => (typeof cell === "number" ? cell : null);

/** null: no collective was recorded. */
export async function readCommunication(recording: Recording, table: ReportTable): Promise<Communication | null> {
  const at = COLUMNS.map((name) => table.columns.findIndex((column) => column.name === name));
  if (table.rows.length === 0 || at.includes(-1)) return null;
  const devices: number[] = [];
  const totals: Communication["totals"] = [];
  const steps = new Map<number | null, StepCommunication>();
  await recording.rowsOf(table).scan(at, (cells, row) => {
    const [device, name, start, dur, comm, exposed, collective, collectiveTime, behind, behindTime] =
      at.map((column) => cells[column]);
    let index = devices.indexOf(numberIn(device));
    if (index < 0) {
      index = devices.push(numberIn(device)) - 1;
      totals.push({ comm: 0, exposed: 0 });
    }
    const begins = maybe(start);
    const step = steps.get(begins) ?? { name: textIn(name), start: begins, cells: [] };
    steps.set(begins, step);
    step.cells[index] = {
      row, comm: numberIn(comm), exposed: numberIn(exposed), collective: textIn(collective), start: begins,
      collectiveTime: numberIn(collectiveTime), behind: textIn(behind), behindTime: numberIn(behindTime),
      dur: maybe(dur),
    };
    totals[index]!.comm += numberIn(comm);
    totals[index]!.exposed += numberIn(exposed);
  }, () => true);
  const inOrder = [...steps.values()].sort((a, b) => (a.start ?? Infinity) - (b.start ?? Infinity));
  for (const { cells } of inOrder) for (let i = 0; i < devices.length; i++) cells[i] ??= null;
  return { devices, steps: inOrder, totals };
}

/** The cells with the most exposed time, the worst first. */
export function mostExposed({ devices, steps }: Communication, count: number) {
  const all = steps.flatMap((step) => step.cells.map((cell, i) => ({ cell, step, device: devices[i]! })));
  const known = all.filter((each): each is typeof each & { cell: CommunicationCell } => (each.cell?.exposed ?? 0) > 0);
  return known.sort((a, b) => b.cell.exposed - a.cell.exposed).slice(0, count);
}
