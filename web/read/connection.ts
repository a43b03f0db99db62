// Requests to the program that serves the page. While it cannot be reached they wait, so that nothing that is shown
// turns into less; the page says so, and asks again on request. A program that was started again has a new token and
// may show something else: its address, opened in this tab, loads the page anew at the same place.

/** Why requests wait: the program ended, or it was started again and does not know this page; null: they do not. */
export type Lost = "ended" | "restarted" | null;

type Read<T> = (reply: Response) => Promise<T>;

export class Connection {
  private state: Lost = null;
  private hasAnswered = false;
  private waiting: (() => void)[] = [];
  private readonly listeners = new Set<() => void>();

  get lost(): Lost {
    return this.state;
  }

  /** Calls the listener when `lost` changes, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** The reply with its body read by `read`; null: read nothing. Rejected only if the program refuses a page that
      it does not know yet. */
  async ask<T>(path: string, read: Read<T>, init: RequestInit = {}): Promise<{ status: number; body: T }> {
    for (;;) {
      const answered = await this.attempt(path, read, init);
      if (answered !== null) return answered;
      await new Promise<void>((resume) => this.waiting.push(resume));
    }
  }

  private async attempt<T>(path: string, read: Read<T>, init: RequestInit) {
    let [status, body]: [number, T | null] = [0, null];
    try {
      const reply = await fetch(path, { credentials: "same-origin", ...init });
      [status, body] = [reply.status, await read(reply)];
    } catch {
      this.setLost("ended");
      return null;
    }
    const isUnknown = status === 401 && this.hasAnswered;
    this.hasAnswered ||= status < 400;
    this.setLost(isUnknown ? "restarted" : null);
    return isUnknown ? null : { status, body: body as T };
  }

  /** Sends the requests that wait if the program answers. */
  async retry(): Promise<void> {
    if ((await this.attempt("/progress", (reply) => reply.text(), {})) === null) return;
    const { waiting } = this;
    this.waiting = [];
    for (const resume of waiting) resume();
  }

  private setLost(lost: Lost): void {
    if (lost === this.state) return;
    this.state = lost;
    for (const listener of this.listeners) listener();
  }
}

/** Of this page. */
export const connection = new Connection();

export const isToken = (fragment: string): boolean => /^[0-9a-f]{32}$/.test(fragment);
