/**
 * Processes that propose and send notices are killed at any moment. A receiver in another process
 * has a notice of each proposal that waits, by its own log.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '#stores';
import { seededNumbers } from '../../packages/testing/src/faults.ts';
import { bundled } from '../support/bundled.ts';
import { withPostgres } from '../support/postgres/index.ts';

const SENDER = await bundled(join(import.meta.dirname, 'notices-process.ts'));
const RECEIVER = join(import.meta.dirname, 'notices-receiver.ts');

function started(
  program: string,
  ...args: readonly string[]
): { process: ChildProcess; lines: string[] } {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout! }).on('line', (line) => lines.push(line));
  return { process: child, lines };
}

async function until(holds: () => boolean | Promise<boolean>, ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`it does not happen in ${ms} ms: ${holds}`);
    await sleep(20);
  }
}

interface Logged {
  readonly id: string;
  readonly signature: string;
  readonly body: { readonly type: string; readonly pending_id: string };
}

/** Kills processes in rounds, and returns the proposals that wait and the receiver's log. */
async function killed(
  url: string,
  rounds: number,
  together: number,
): Promise<[readonly string[], readonly Logged[]]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-notices-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const log = join(folder, 'received.jsonl');
  const received = (): Logged[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map((line) => JSON.parse(line))
      : [];
  const receiver = started(RECEIVER, log);
  await until(() => receiver.lines.length > 0, 10_000);
  const hook = `http://127.0.0.1:${receiver.lines[0]}/`;
  const next = seededNumbers(7);
  const pending: string[] = [];
  await (await openStore(url)).close();
  for (let round = 0; round < rounds; round += 1) {
    const senders = Array.from({ length: together }, (_, n) =>
      started(SENDER, url, hook, `r${round}p${n}`, '1000'),
    );
    // By their progress, and not by the time: a busy machine is slow.
    const told = 2 + next(4);
    await until(() => senders.every(({ lines }) => lines.length > told), 30_000);
    await sleep(next(20));
    for (const { process: each } of senders) {
      const ended = once(each, 'exit');
      each.kill('SIGKILL');
      await ended;
    }
    pending.push(...senders.flatMap(({ lines }) => lines));
  }
  const store = await openStore(url, { mode: 'readonly' });
  onTestFinished(() => store.close());
  // Also proposals that were committed and that their process had no time to name. A server may
  // commit after the end of the process, so they are read again.
  const waiting = async (): Promise<string[]> =>
    (await store.trajectories()).filter(({ entries }) => entries > 1).map(({ head }) => head);
  const first = await waiting();
  expect(pending.filter((id) => !first.includes(id))).toEqual([]);
  const last = started(SENDER, url, hook, 'last', '0');
  await until(async () => {
    const told = new Set(received().map(({ body }) => body.pending_id));
    return (await waiting()).every((id) => told.has(id));
  }, 60_000);
  last.process.stdin!.end();
  await once(last.process, 'exit');
  return [await waiting(), received()];
}

async function expectTold(url: string, rounds: number, together: number): Promise<void> {
  const [waiting, received] = await killed(url, rounds, together);
  expect(waiting.length).toBeGreaterThan(rounds * 2);
  const told = new Set(received.map(({ body }) => body.pending_id));
  expect([...told].sort()).toEqual([...waiting].sort());
  // One id for each proposal, at every attempt.
  expect(new Set(received.map(({ id }) => id)).size).toBe(told.size);
  for (const { signature } of received) expect(signature).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
}

test('SQLite: each waiting proposal is announced, whenever the process ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-notices-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await expectTold(`sqlite:${join(folder, 'a.db')}`, 8, 1);
});

withPostgres('two servers', (postgres) => {
  test('PostgreSQL: each waiting proposal is announced, whenever they end', async () => {
    await expectTold(postgres.url(), 5, 2);
  });

  test('two servers normally tell each proposal once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-notices-once-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { NoticeSink } = await import('../support/tools/notice-sink.ts');
    await using sink = await NoticeSink.open();
    const url = postgres.url();
    await (await openStore(url)).close();
    const senders = [0, 1].map((n) => started(SENDER, url, sink.url, `p${n}`, '40'));
    await until(() => senders.every(({ lines }) => lines.at(-1) === 'ready'), 60_000);
    const pending = senders.flatMap(({ lines }) => lines.slice(0, -1));
    await until(() => sink.received.length >= pending.length, 30_000);
    await sleep(300);
    for (const { process: each } of senders) each.stdin!.end();
    await Promise.all(senders.map(({ process: each }) => once(each, 'exit')));
    expect(sink.received.map(({ body }) => body.pending_id).sort()).toEqual(pending.sort());
    for (const { headers, body, id } of sink.received) {
      const signed = `${id}.${headers['webhook-timestamp']}.${JSON.stringify(body)}`;
      const hmac = createHmac('sha256', 'a-secret-of-24-characters')
        .update(signed)
        .digest('base64');
      expect(headers['webhook-signature']).toBe(`v1,${hmac}`);
    }
  });
});
