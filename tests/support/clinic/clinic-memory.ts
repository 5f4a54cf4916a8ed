import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import type { Instant } from '#canon';
import { type CommitPayload, readRow } from '#ledger';
import type { FactRow } from '#memory';
import type { AssizeOptions, Memory, Ruling } from '#runtime';
import { openStore } from '#stores';
import { HandClock, runtimeOver, writFor } from '../ledger/runtime.ts';
import { clinic } from './clinic.ts';

export const writ = writFor('nurse');
export const day = (text: string): Instant => `${text}T00:00:00.000000Z`;
export const objects = (facts: readonly FactRow[]): string[] => facts.map(({ object }) => object);

export const committed = async (said: Promise<Ruling>): Promise<CommitPayload> => {
  const ruling = await said;
  expect(ruling).toMatchObject({ ruling: 'committed' });
  return readRow((ruling as Extract<Ruling, { ruling: 'committed' }>).entry)
    .payload as CommitPayload;
};

export const drug = async (memory: Memory, query: object): Promise<string[]> =>
  objects((await memory.recall({ subject: 'p7', predicate: 'drug', ...query })).facts);

type Begin = (options?: Partial<AssizeOptions>) => ReturnType<typeof beginOn>;

/** Runs tests on the memory of a clinic, on a store in memory and on one in a file. */
export function onClinics(tests: (begun: Begin) => void): void {
  describe.each(['memory', 'sqlite'])('on %s', (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-memory-'));
    let files = 0;
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    tests((options = {}) =>
      beginOn(kind === 'memory' ? 'memory:' : `sqlite:${join(folder, `${++files}.db`)}`, options),
    );
  });
}

async function beginOn(url: string, options: Partial<AssizeOptions>) {
  const store = await openStore(url);
  const clock = new HandClock();
  const assize = runtimeOver(store, [clinic], { ...options, ports: { clock, ...options.ports } });
  const trajectory = await assize.create(clinic, { trajectoryId: 't', writs: [writ] });
  const memory = trajectory.memory({ space: 'ward', writ });
  return { store, clock, assize, trajectory, memory, url };
}
