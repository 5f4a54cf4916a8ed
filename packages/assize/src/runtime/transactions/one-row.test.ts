import { setImmediate as turn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import type { Batch, EffectWrite } from '#ledger';
import { runtimeOver } from '../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';
import { COUNT, writ } from '../../../../../tests/support/tools/transaction-stage.ts';

/** The effect records of each write, until the commit. */
async function said(
  rest: () => Promise<unknown> | undefined,
  ends: 'commits' | 'throws' = 'commits',
): Promise<string[][]> {
  const memory = new MemoryStore();
  const writes: string[][] = [];
  const note = (effects: EffectWrite | undefined): void => {
    for (const { record } of effects?.records ?? [])
      writes.push(
        (JSON.parse(record) as readonly { readonly is: string }[])
          .map(({ is }) => is)
          .filter((is) => is !== 'mac'),
      );
  };
  const store = new Proxy(memory, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        if (name === 'logEffects') note(given[0] as EffectWrite);
        if (name === 'commit') note((given[0] as Batch).effects);
        return Reflect.apply(member, target, given);
      };
    },
  });
  const tools = [
    toolFor({ sink: new OutsideSink('blind'), steps: new Steps() }, 'reversible', 'externalised'),
  ];
  const assize = runtimeOver(store, [tally], { tools });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const done = trajectory.transaction({ writ, writes: ['test:**'], retries: 0 }, async (tx) => {
    await tx.call('reversible.externalised', { what: 'a' });
    const waiting = rest();
    if (waiting !== undefined) await waiting;
    if (ends === 'throws') throw new Error('no more of it');
    tx.propose(COUNT);
  });
  await done.catch(() => undefined);
  await assize.close();
  return writes;
}

test('a call’s result is logged with the commit of the same turn', async () => {
  expect((await said(() => undefined)).slice(0, 2)).toEqual([
    ['intended'],
    ['executed', 'committed'],
  ]);
});

test('an idle body has its call’s result in the log before the commit', async () => {
  const writes = await said(async () => {
    await turn();
    await turn();
  });
  expect(writes.slice(0, 3)).toEqual([['intended'], ['executed'], ['committed']]);
});

test('without a commit a call’s result is logged with the abort reason', async () => {
  expect((await said(() => undefined, 'throws')).slice(0, 2)).toEqual([
    ['intended'],
    ['executed', 'aborting'],
  ]);
});
