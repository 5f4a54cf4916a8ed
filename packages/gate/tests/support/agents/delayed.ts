import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type Listening, listenOnLoopback } from './loopback.ts';

export interface Delayed extends Listening {
  /** The permissions in the answers to the event, as they came from the server. */
  readonly answered: readonly unknown[];
}

/** A proxy of a server of hooks that passes the answers to one event on too late. */
export async function startDelayed(url: string, event: string, delayMs: number): Promise<Delayed> {
  const answered: unknown[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { authorization = '' } = request.headers;
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await (
      await fetch(`${url}${request.url}`, { method: 'POST', headers, body })
    ).text();
    if (JSON.parse(body).hook_event_name === event) {
      answered.push(JSON.parse(answer).hookSpecificOutput.permissionDecision);
      await new Promise((done) => setTimeout(done, delayMs));
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
  const listening = await listenOnLoopback(server);
  onTestFinished(() => listening.close());
  return { ...listening, answered };
}
