/** A server whose domain never ends: the process ends itself, and the next one goes on. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { bundled } from '../support/bundled.ts';

const PROCESS = await bundled(join(import.meta.dirname, 'stuck-server.ts'));
/** A start on a busy machine blocks for a second. */
const LIMIT_MS = 3_000;

function newStore(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assize-stuck-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return `sqlite:${join(folder, 'a.db')}`;
}

/** A started server, and a function that proposes in one of the ways of its domain. */
async function started(store: string) {
  const child: ChildProcess = fork(PROCESS, [store, String(LIMIT_MS)], {
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let errors = '';
  child.stderr?.on('data', (data) => (errors += String(data)));
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  const said = await Promise.race([once(child, 'message'), closed.then(() => undefined)]);
  if (said === undefined) throw new Error(`the server did not start: ${errors}`);
  const { url, token } = said[0] as { readonly url: string; readonly token: string };
  const propose = async (way: string, key: string): Promise<string> => {
    const response = await fetch(`${url}/v1/trajectories/one/proposals`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ action: 'spin', role: 'worker', args: { way } }),
    });
    return ((await response.json()) as { ruling: string }).ruling;
  };
  return { child, closed, propose, errors: () => errors };
}

test.each(['loop', 'pattern'])(
  'a server with an endless domain ends, and starts again: %s',
  async (way) => {
    const store = newStore();
    const first = await started(store);
    expect(await first.propose('fine', 'a')).toBe('committed');
    await expect(first.propose(way, 'b')).rejects.toThrow();
    const [code, signal] = await first.closed;
    // A busy machine does not let the main thread exit by itself in time.
    expect(code === 86 || signal === 'SIGKILL').toBe(true);
    const said = first
      .errors()
      .split('\n')
      .filter((line) => line.includes('"event":"stuck"'))
      .map((line) => JSON.parse(line));
    expect(said[0]).toMatchObject({ level: 'error', event: 'stuck', at: expect.any(Array) });
    expect(said[0].blocked_ms).toBeGreaterThanOrEqual(LIMIT_MS);
    if (code === 86) expect(said[0].at.join('\n')).toMatch(/^(loop|pattern) file:.*:\d+$/m);
    const second = await started(store);
    expect(await second.propose('fine', 'c')).toBe('committed');
    second.child.kill('SIGTERM');
    expect(await second.closed).toEqual([0, null]);
  },
);

test('a server goes on after short work, and after it was stopped', async () => {
  const { child, closed, propose } = await started(newStore());
  for (let n = 0; n < 3; n++) expect(await propose('short', `k${n}`)).toBe('committed');
  child.kill('SIGSTOP');
  await sleep(LIMIT_MS * 1.5);
  child.kill('SIGCONT');
  expect(await propose('fine', 'last')).toBe('committed');
  child.kill('SIGTERM');
  expect(await closed).toEqual([0, null]);
});
