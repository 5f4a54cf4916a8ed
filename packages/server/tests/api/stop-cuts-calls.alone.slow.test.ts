/** A stop does not wait for ever for a call of a tool, and its log stays JSON. */
import { once } from 'node:events';
import { declareTool } from 'assize/internal/effects';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { callOperation } from '../../../../tests/support/server/calling.ts';
import { start } from '../../../../tests/support/server/serving.ts';

test('a stop during a long call is logged, and the process warns of nothing', {
  timeout: 60_000,
}, async () => {
  const asked = Promise.withResolvers<void>();
  const warned: unknown[] = [];
  const onWarning = (warning: unknown) => void warned.push(warning);
  process.on('warning', onWarning);
  const slow = declareTool({
    ...{ name: 'bank.pay', input: z.object({ cents: z.number() }), writes: ['bank:**'] },
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
    execute: async (_input, { signal }) => {
      asked.resolve();
      if (!signal.aborted) await once(signal, 'abort');
    },
  });
  const server = await start({ config: { tools: [slow] } });
  const body = {
    action: 'wire',
    role: { name: 'clerk', params: { desk: 'a' } },
    args: { cents: 5 },
  };
  const wired = callOperation(server, 'proposals.create', {
    path: { trajectory: 'main' },
    key: 'w',
    body,
  }).catch(() => 0);
  await asked.promise;
  await server.stop();
  await wired;
  process.off('warning', onWarning);
  const failures = server.lines
    .map((text) => JSON.parse(text))
    .filter(({ event }) => event === 'failure');
  expect(failures).toMatchObject([{ level: 'error', code: 'calls_cut' }]);
  expect(warned).toEqual([]);
});
