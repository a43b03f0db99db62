// What events are in words, by their table.

const KINDS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  kernel: ["kernel", "kernels"],
  memcpy: ["copy", "copies"],
  memset: ["fill", "fills"],
  range: ["range", "ranges"],
  op: ["operator", "operators"],
  api_call: ["API call", "API calls"],
  os_call: ["system call", "system calls"],
  python_call: ["Python function", "Python functions"],
  overhead: ["profiler", "profiler"],
  device_range: ["range on the device", "ranges on the device"],
  gap: ["idle time", "idle times"],
  communication: ["communication", "stretches of communication"],
  iteration: ["iteration", "iterations"],
  thread_state: ["state of the thread", "states of threads"],
};

const kinds = (table: string): readonly [string, string] =>
  Object.hasOwn(KINDS, table) ? KINDS[table]! : [table, table];

/** "copy" */
export const kindOf = (table: string): string => kinds(table)[0];
/** "copies" */
export const kindsOf = (table: string): string => kinds(table)[1];
