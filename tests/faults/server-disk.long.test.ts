/**
 * The disk of a server's store is full, its file is cut, or a write to it fails: the answers, the
 * probes and the end of the process.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { verifyStore } from '#runtime';
import { openStore } from '#stores';
import { runProcess } from '../support/process/command.ts';
import { type ListeningServer, startServer } from '../support/process/listening-server.ts';

// The server has a tool, so it holds the lease on effects and looks whether others wait for it.
const CONFIG = `
import { declareTool } from 'assize/effects';
import { z } from 'zod';

export default {
  tools: [declareTool({
    name: 'note', input: z.strictObject({}), writes: ['notes:all'], execute: () => null,
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  })],
  worlds: { main: { domain: 'budget' } },
  principals: { 'agent:ada': { kinds: ['agent'], grants: [{ actions: ['spend'], scopes: ['role:spender:ada'] }] } },
};
`;
const SERVER_ARGS = ['--port', '0'];
const hasSmallDisks = process.platform === 'linux' && process.getuid?.() === 0;

let folder: string;
let server: ListeningServer | undefined;

// Inside the repository, so that `assize` is this package.
beforeEach(() => {
  folder = mkdtempSync(join(import.meta.dirname, '../../dist-server-disk-'));
  writeFileSync(join(folder, 'assize.config.ts'), CONFIG);
});
afterEach(async () => {
  if (server?.process.exitCode === null) await server.end('SIGKILL');
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

interface Served {
  readonly propose: (key: string) => Promise<{ readonly status: number; readonly body: any }>;
  readonly probe: (path: string) => Promise<number>;
}

async function served(store: string, env: Readonly<Record<string, string>> = {}): Promise<Served> {
  server = await startServer(folder, SERVER_ARGS, { env: { ASSIZE_STORE: store, ...env } });
  const { url } = server;
  const { out } = await runProcess(folder, store, 'token', 'create', 'agent:ada');
  return {
    propose: async (key) => {
      const headers = {
        authorization: `Bearer ${out.trim()}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      };
      const role = { name: 'spender', params: { agent: 'ada' } };
      const body = JSON.stringify({ action: 'spend', role, args: { amount: 1 } });
      const answer = await fetch(`${url}/v1/trajectories/main/proposals`, {
        method: 'POST',
        headers,
        body,
      });
      return { status: answer.status, body: await answer.json() };
    },
    probe: async (path) => (await fetch(`${url}${path}`)).status,
  };
}

/** The ledger verifies, and has that number of answered proposals and no others. */
async function expectCommits(store: string, count: number): Promise<void> {
  const opened = await openStore(store);
  const reports = await verifyStore(opened);
  expect(reports.every(({ valid }) => valid)).toBe(true);
  expect((await opened.entries('main')).filter(({ kind }) => kind === 'commit')).toHaveLength(
    count,
  );
  await opened.close();
}

describe.skipIf(!hasSmallDisks)('on a small disk', () => {
  let disk: string;

  beforeEach(() => {
    disk = join(folder, 'disk');
    mkdirSync(disk);
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]).status).toBe(0);
  });
  afterEach(async () => {
    if (server?.process.exitCode === null) await server.end('SIGKILL');
    expect(spawnSync('umount', [disk]).status).toBe(0);
  });

  test('a full disk: 503 until there is space, and the server goes on', async () => {
    const store = `sqlite:${join(disk, 'ledger.db')}`;
    const { propose, probe } = await served(store);
    expect((await propose('first')).body).toMatchObject({ ruling: 'committed' });
    spawnSync('dd', ['if=/dev/zero', `of=${join(disk, 'filler')}`, 'bs=4k', 'count=4096']);
    const answered = ['first'];
    let refused: { readonly status: number; readonly body: any } | undefined;
    for (let n = 0; refused === undefined; n++) {
      const answer = await propose(`full ${n}`);
      if (answer.status === 200) answered.push(`full ${n}`);
      else refused = answer;
    }
    const problem = {
      code: 'store_failed',
      retryable: true,
      detail: expect.stringMatching(/Repeat the request later/),
    };
    expect(refused).toMatchObject({ status: 503, body: problem });
    // Longer than a holder of the lease waits between two looks.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(server?.process.exitCode).toBeNull();
    expect([await probe('/healthz'), await probe('/readyz')]).toEqual([200, 503]);
    rmSync(join(disk, 'filler'));
    expect([await probe('/healthz'), await probe('/readyz')]).toEqual([200, 200]);
    expect((await propose('later')).body).toMatchObject({ ruling: 'committed' });
    expect((await propose('full 0')).body).toMatchObject({ ruling: 'committed' });
    expect(await server!.end('SIGTERM')).toBe(0);
    await expectCommits(store, new Set([...answered, 'later', 'full 0']).size);
  });
});

test('a file that is cut while open: the server ends with 3, and says why', async () => {
  const path = join(folder, 'ledger.db');
  const { propose, probe } = await served(`sqlite:${path}`);
  expect((await propose('first')).body).toMatchObject({ ruling: 'committed' });
  const ended = once(server!.process, 'exit');
  let log = '';
  server!.process.stderr!.on('data', (text) => (log += text));
  truncateSync(path, 4_096);
  expect([await probe('/healthz'), await probe('/readyz')]).toEqual([503, 503]);
  expect((await propose('second')).body).toMatchObject({
    code: expect.stringMatching(/^(commit_unknown|store_poisoned)$/),
  });
  expect((await propose('third')).status).toBe(503);
  expect((await ended)[0]).toBe(3);
  expect(log).toMatch(
    /ledger\.db was cut while the store .* was open.*Put the right file in place/s,
  );
});

test('a write that fails: 503 that can be repeated, and the server ends with 3', async () => {
  const path = join(folder, 'ledger.db');
  const store = `sqlite:${path}`;
  const failing = join(folder, 'failing.mjs');
  writeFileSync(failing, FAILING_COMMIT);
  const { propose, probe } = await served(store, { NODE_OPTIONS: `--import ${failing}` });
  expect((await propose('first')).body).toMatchObject({ ruling: 'committed' });
  const ended = once(server!.process, 'exit');
  writeFileSync(join(folder, 'fails'), '');
  await propose('second');
  await vi.waitFor(async () => expect((await propose('third')).body).toMatchObject(POISONED));
  expect(await probe('/healthz')).toBe(503);
  expect((await ended)[0]).toBe(3);
  rmSync(join(folder, 'fails'));
  const again = await served(store);
  for (const key of ['first', 'second', 'third'])
    expect((await again.propose(key)).body.ruling).toBe('committed');
  expect(await server!.end('SIGTERM')).toBe(0);
  await expectCommits(store, 3);
});

const POISONED = {
  code: 'store_poisoned',
  retryable: true,
  detail: expect.stringMatching(/Repeat the request later/),
};

/** While the file `fails` exists, the sync of a commit fails (SQLITE_IOERR_FSYNC). */
const FAILING_COMMIT = `
import { existsSync } from 'node:fs';
import { StatementSync } from 'node:sqlite';

const run = StatementSync.prototype.run;
StatementSync.prototype.run = function (...args) {
  if (this.sourceSQL === 'COMMIT' && existsSync('fails'))
    throw Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 1034 });
  return run.apply(this, args);
};
`;
