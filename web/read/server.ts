// Documents from `gpu-profile view`: /manifest and /blobs/1,2,3 at the page's address, and under /base those of the
// baseline. The recording of rank N of a job is at /rank/N in the same way, and its page at /rank/N/. The token in the
// address (#TOKEN) is exchanged for a cookie and removed from the address, as described in the view format.

import { connection } from "./connection.ts";
import { splitFrames } from "./frames.ts";
import { prepared } from "./preparation.ts";
import { SqlServer } from "./sql_client.ts";
import type { Source, Sources } from "./source.ts";

const MAX_IDS = 64; // maximum blobs per request

/** The rank whose recording a page shows, by its path; null: another page. */
export const rankOfPath = (path: string): string | null => /^\/rank\/(\d+)\//.exec(path)?.[1] ?? null;

/** `path` of the page. */
export function serverSources(token: string | null, path = "/"): Sources {
  const rank = rankOfPath(path);
  const session = token === null ? Promise.resolve() : openSession(token);
  return {
    document: new Server(session, rank === null ? "" : `/rank/${rank}`),
    base: new Server(session, "/base"),
    prepared: async (part, show) => {
      await session;
      return prepared(async () => JSON.parse(await get("/progress", text)), part, show);
    },
    comparison: async () => {
      await session;
      const json = await get("/comparison", text);
      return json === "null" ? null : json;
    },
  };
}

class Server implements Source {
  readonly sql: SqlServer;

  constructor(
    private readonly session: Promise<void>,
    private readonly under: string,
  ) {
    this.sql = new SqlServer(`${under}/sql`);
  }

  async manifest(): Promise<string> {
    await this.session;
    return get(`${this.under}/manifest`, text);
  }

  blobs(ids: readonly number[]): Promise<Uint8Array>[] {
    const blobs: Promise<Uint8Array>[] = [];
    for (let i = 0; i < ids.length; i += MAX_IDS) {
      const asked = ids.slice(i, i + MAX_IDS);
      const part = this.part(asked);
      asked.forEach((_, at) => blobs.push(part.then((whole) => whole[at]!)));
    }
    return blobs;
  }

  async recordings(): Promise<number[]> {
    await this.session;
    const ranks: unknown = JSON.parse(await get("/recordings", text));
    return Array.isArray(ranks) ? ranks.filter((rank) => Number.isInteger(rank)) : [];
  }

  private async part(ids: readonly number[]): Promise<Uint8Array[]> {
    await this.session;
    const bytes = await get(`${this.under}/blobs/${ids.join(",")}`, (reply) => reply.arrayBuffer());
    const blobs = splitFrames(new Uint8Array(bytes), ids.length);
    if (!blobs.ok) throw new Error(blobs.error);
    return blobs.value;
  }
}

const text = (reply: Response): Promise<string> => reply.text();

export async function openSession(token: string): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  const { status } = await connection.ask("/session", text, { method: "POST", headers });
  const advice = "open the address that it printed, which works in any browser until it ends";
  if (status >= 400) throw new Error(`gpu-profile view rejected this address (${status}); ${advice}`);
}

async function get<T>(path: string, read: (reply: Response) => Promise<T>): Promise<T> {
  const { status, body } = await connection.ask(path, read);
  if (status === 401 || status === 403)
    throw new Error("access denied; open the address that gpu-profile view printed");
  if (status >= 400) throw new Error(`cannot load ${path}: gpu-profile view answered with status ${status}`);
  return body;
}
