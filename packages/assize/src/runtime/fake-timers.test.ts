import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpTool } from '@assize/tools/internal/http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { DidNothing, declareTool, type Tool } from '#effects';
import { systemPause } from '#oracle';
import { openStore } from '#stores';
import { deskOf } from '../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../tests/support/tools/effect-sink.ts';
import { COUNT, stage } from '../../../../tests/support/tools/transaction-stage.ts';

// Waits that only yield to the event loop do not hang on timers that a test replaces.

const folder = mkdtempSync(join(tmpdir(), 'assize-timers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const worker = writFor('agent');
const desk = deskOf();

async function withFakeTimers<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ now: new Date('2026-05-01T00:00:00Z') });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

test.each(['memory:', 'sqlite:'])('a proposal on %s is ruled on under fake timers', async (url) => {
  const ruling = await withFakeTimers(async () => {
    const store = await openStore(url === 'memory:' ? url : `sqlite:${join(folder, 'store.db')}`);
    const trajectory = await runtimeOver(store, [desk]).create(desk, {
      trajectoryId: 't',
      writs: [worker],
    });
    const answers = await Promise.all(
      [1, 2, 3].map(() => trajectory.propose(intent('add', { by: 1 }, worker))),
    );
    await store.close();
    return answers.map((one) => one.ruling);
  });
  expect(ruling).toEqual(['committed', 'committed', 'committed']);
});

test('a transaction with a tool is ruled on under fake timers', async () => {
  const { trajectory, all } = await stage();
  const outcome = await withFakeTimers(() =>
    trajectory.transaction(all, async (tx) => {
      tx.propose(COUNT as never);
    }),
  );
  expect(outcome.ruling.ruling).toBe('committed');
});

describe.each(['memory:', 'sqlite:'])('a tool call on %s under fake timers', (kind) => {
  let requests = 0;
  const server = createServer((_, response) => {
    // The first answer of each path is a temporary refusal, without a wait.
    const status = ++requests % 2 === 1 ? 503 : 200;
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"id":"1"}');
  });
  beforeAll(async () => void (await once(server.listen(0, '127.0.0.1'), 'listening')));
  afterAll(() => void server.close());

  const input = z.strictObject({ what: z.string() });
  const keyed = (delivery: 'buffered' | 'externalised') =>
    ({ reversibility: 'reversible', delivery, sink: 'keyed' }) as const;
  let refusals = 0;
  const tools = (): Tool[] => [
    ...(['buffered', 'externalised'] as const).flatMap((delivery) => [
      httpTool({
        name: `http.${delivery}`,
        input,
        class: keyed(delivery),
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/things`,
        body: ({ what }) => ({ what }),
        compensate: {
          url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/things/{id}`,
        },
      }),
      declareTool({
        name: `own.${delivery}`,
        input,
        class: keyed(delivery),
        writes: ['own:{what}'],
        execute: ({ what }) => {
          if (++refusals % 2 === 1) throw new DidNothing('it was busy');
          return what;
        },
        compensate: () => ({ undone: 'all' as const }),
      }),
    ]),
    declareTool({
      name: 'own.read',
      input,
      class: 'read',
      reads: ['own:{what}'],
      execute: ({ what }) => what,
    }),
  ];

  test.each([
    ['commits', 'settled'],
    ['throws', 'undone'],
  ])('ends where the body %s', async (ends, outcome) => {
    const found = await withFakeTimers(async () => {
      const store = await openStore(
        kind === 'memory:' ? kind : `sqlite:${join(folder, `tools-${ends}.db`)}`,
      );
      const assize = runtimeOver(store, [tally], { tools: tools(), ports: { pause: systemPause } });
      const trajectory = await assize.create(tally, { trajectoryId: 't' });
      const all = {
        writ: writFor('alice'),
        reads: ['own:**'],
        writes: ['own:**', 'api:**'],
        retries: 9,
      };
      const effects = await trajectory
        .transaction(all, async (tx) => {
          await tx.call('own.read', { what: 'r' });
          for (const name of [
            'http.externalised',
            'own.externalised',
            'http.buffered',
            'own.buffered',
          ])
            await tx.call(name, { what: name });
          if (ends === 'throws') throw new Error('undone');
          tx.propose(COUNT as never);
        })
        .then(
          (ended) => ended.effects,
          (error: Error) => error.message,
        );
      const open = await store.openEffects!();
      await assize.close();
      await store.close();
      return { effects, open };
    });
    expect(found).toEqual({ effects: outcome, open: [] });
  });
});
