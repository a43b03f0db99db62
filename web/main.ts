// Entry point, run twice: in the page, where it finds the recording and shows it, and in the worker that the page
// starts with the same script (read/worker.ts).

import { runWorker } from "./read/worker.ts";
import { start } from "./view/page/start.tsx";

if (typeof document === "undefined") runWorker(globalThis as unknown as Parameters<typeof runWorker>[0]);
else void start(document);
