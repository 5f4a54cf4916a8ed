import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { rootKeyOf } from '#config';
import { verifyStore } from '#runtime';
import { openStore } from '#stores';
import { startCommand } from '../support/process/command.ts';
import { ask, type Clients } from './serve-clients.ts';
import { type Kind, orderOf } from './serve-orders.ts';
import { tokensIn } from './serve-process-control.ts';

const CONFIG = pathToFileURL(join(import.meta.dirname, 'serve-stop-config.ts'));
/** The longest time of a stop. */
const STOP_MS = 20_000;

/** A sink that answers nothing until it is released, and then executes each key once. */
async function hangingSink() {
  const asked: { readonly does: string; readonly key: string }[] = [];
  const executed = new Set<string>();
  const released = { is: false };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { key } = JSON.parse(text) as { key: string };
    const does = request.url!.split('/')[2]!;
    asked.push({ does, key });
    if (does === 'do') executed.add(key);
    if (released.is) response.end(JSON.stringify({ has: executed.has(key) }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    asked,
    executed,
    port: String((server.address() as AddressInfo).port),
    release: () => (released.is = true),
  };
}

/** `assize serve` in a process of its own, and the address that it printed. */
async function served(
  folder: string,
  url: string,
): Promise<{ readonly child: ChildProcess; readonly origin: string }> {
  const child = startCommand(
    folder,
    url,
    'serve',
    '--config',
    join(folder, 'assize.config.ts'),
    '--port',
    '0',
    '--json',
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  let log = '';
  child.stderr!.on('data', (text) => (log += text));
  const [printed] = (await Promise.race([
    once(child.stdout!, 'data'),
    once(child, 'exit').then(() => {
      throw new Error(log);
    }),
  ])) as [Buffer];
  return { child, origin: (JSON.parse(printed.toString()) as { url: string }).url };
}

/** Stops the process as a service manager does. */
async function stop(
  child: ChildProcess,
): Promise<{ readonly code: number | null; readonly ms: number }> {
  const start = performance.now();
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = (await exited) as [number | null];
  return { code, ms: performance.now() - start };
}

/** The first order of that kind. */
function orderTo(kind: Kind) {
  for (let number = 0; ; number++) {
    const order = orderOf(1, number);
    if (order.kind === kind) return order;
  }
}

test.each(['pay', 'book'] as const)(
  'SIGTERM ends a server whose call to %s hangs; the next one continues',
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-stop-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const url = `sqlite:${join(folder, 'store.db')}`;
    const sink = await hangingSink();
    const config = `import { configAt } from '${CONFIG}';\nexport default configAt('${sink.port}');\n`;
    writeFileSync(join(folder, 'assize.config.ts'), config);
    const tokens = await tokensIn(url, 1, rootKeyOf(url));
    const { child, origin } = await served(folder, url);
    const clients: Pick<Clients, 'tokens'> = { tokens };
    const called = orderTo(kind);
    const asked = orderTo('ask');
    const proposalOf = ({ world, key, body }: typeof called) => ({
      ...{ principal: 'agent:a0', path: `/v1/trajectories/${world}/proposals`, key, body },
    });

    const hanging = ask(clients, origin, proposalOf(called));
    const waiting = ask(clients, origin, { ...proposalOf(asked), wait: 300 });
    const authorization = `Bearer ${tokens.get('human:grace')}`;
    const events = await fetch(`${origin}/v1/events?last_event_id=-1`, {
      headers: { authorization },
    });
    const followed = events.text();
    await vi.waitFor(() => expect(sink.asked).toHaveLength(1), { timeout: 60_000 });
    const approvals = { principal: 'human:grace', method: 'GET', path: '/v1/approvals' } as const;
    await vi.waitFor(
      async () => expect((await ask(clients, origin, approvals)).body.approvals).toHaveLength(1),
      {
        timeout: 60_000,
      },
    );
    const stopped = stop(child);
    const answers = await Promise.all([hanging, waiting]);
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [503, 'stopping'],
      [503, 'stopping'],
    ]);
    expect(await followed).toContain('event: commit');
    const { code, ms } = await stopped;
    expect(code).toBe(0);
    expect(ms).toBeLessThan(STOP_MS);

    sink.release();
    const next = await served(folder, url);
    const again = await ask(clients, next.origin, proposalOf(called));
    expect(again).toMatchObject({ status: 200, body: { ruling: 'committed' } });
    await vi.waitFor(
      async () =>
        expect((await ask(clients, next.origin, proposalOf(called))).body).toMatchObject({
          ...{ entry_id: again.body.entry_id, effects: 'settled' },
        }),
      { timeout: 60_000 },
    );
    expect(sink.executed.size).toBe(1);
    expect(sink.asked.map(({ does }) => does)).toEqual(
      kind === 'pay' ? ['do', 'do'] : ['do', 'has'],
    );
    expect((await stop(next.child)).code).toBe(0);
    const store = await openStore(url);
    for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
    await store.close();
  },
);
