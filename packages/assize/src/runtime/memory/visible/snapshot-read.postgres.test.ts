import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { day } from '@assize/testing/internal/fact-rows.ts';
import { afterAll, describe, expect, test } from 'vitest';
import type { FactReads } from '#ledger';
import { type Embedder, OPEN_END } from '#memory';
import { openStore } from '#stores';
import { clinic } from '../../../../../../tests/support/clinic/clinic.ts';
import { writ } from '../../../../../../tests/support/clinic/clinic-memory.ts';
import { runtimeOver } from '../../../../../../tests/support/ledger/runtime.ts';
import { withPostgres } from '../../../../../../tests/support/postgres/with-postgres.ts';
import type { Memory, RecallQuery } from '../index.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-moment-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const embedder: Embedder = {
  id: 'one@1',
  dimensions: 1,
  embed: async (texts) => texts.map(() => Float32Array.of(1)),
};

type Store = Awaited<ReturnType<typeof openStore>>;

/** Runs `meet` after each read of facts, of either kind. */
function meeting(store: Store, meet: () => Promise<void>): void {
  const met = (reads: FactReads): FactReads => {
    const after =
      <Query, Answer>(read: (query: Query) => Promise<Answer>) =>
      async (query: Query): Promise<Answer> => {
        const answer = await read.call(reads, query);
        await meet();
        return answer;
      };
    return {
      facts: after(reads.facts),
      branchPartitions: after(reads.branchPartitions),
      factsByText: after(reads.factsByText),
      factsByVector: after(reads.factsByVector),
    };
  };
  const atOneMoment = store.withReadSnapshot?.bind(store);
  const { facts, branchPartitions, factsByText, factsByVector } = store;
  Object.assign(
    store,
    met({
      facts: facts.bind(store),
      branchPartitions: branchPartitions.bind(store),
      factsByText: factsByText.bind(store),
      factsByVector: factsByVector.bind(store),
    }),
  );
  if (atOneMoment !== undefined)
    store.withReadSnapshot = (read, options) => atOneMoment((reads) => read(met(reads)), options);
}

function tests(url: (name: string) => string): void {
  const valid = { from: day(1), to: day(300) };
  const said = (subject: string, object: string) => ({ subject, predicate: 'drug', object, valid });
  const relation = {
    to: { from: day(1), to: OPEN_END },
    is: ['starts', 'equals', 'during'],
  } as const;

  test.each<[string, 'shared' | 'branch', RecallQuery]>([
    ['in a relation', 'shared', { relation, limit: 10_000 }],
    ['by a branch', 'branch', { valid: day(2), limit: 10_000 }],
    ['by words, by a branch', 'branch', { valid: day(2), text: 'old new', limit: 10 }],
    ['by words and meaning', 'shared', { valid: day(2), text: 'old new', by: 'hybrid', limit: 10 }],
  ])('a recall of several partitions is one snapshot: %s', async (name, where, query) => {
    const store = await openStore(url(name.replaceAll(/\W/g, '-')));
    const assize = runtimeOver(store, [clinic], { memory: { embedder } });
    const trajectory = await assize.create(clinic, { trajectoryId: 't', writs: [writ] });
    const shared: Memory = trajectory.memory({ space: 'ward', writ });
    const many = query.text === undefined ? 1_100 : 5;
    const between = Array.from({ length: many }, (_, n) => said(`b${n}`, 'none'));
    for (let n = 0; n < many; n += 300) await shared.assertMany(between.slice(n, n + 300));
    const both = (object: string) => [said('a', object), said('z', object)];
    await shared.assertMany(both('old'));
    let memory = shared;
    if (where === 'branch') {
      const branch = await assize.branch('t', trajectory.head, {
        trajectoryId: 'b',
        note: 'b',
        writs: [writ],
      });
      memory = branch.memory({ space: 'ward', writ });
      await memory.assertMany(both('old'));
    }
    let isChanged = false;
    meeting(store, async () => {
      if (isChanged) return;
      isChanged = true;
      expect(await memory.assertMany(both('new'))).toMatchObject({ ruling: 'committed' });
    });
    const objects = async () => {
      const { facts, scores = [] } = await memory.recall(query);
      if (query.by === 'hybrid')
        expect(scores.filter(({ embedding }) => embedding === undefined)).toEqual([]);
      return facts
        .flatMap(({ subject, object }) =>
          subject === 'a' || subject === 'z' ? [`${subject} ${object}`] : [],
        )
        .sort();
    };
    expect(await objects()).toEqual(['a old', 'z old']);
    expect(isChanged).toBe(true);
    // A later read returns the current facts, also after a failed one.
    const failed = new Error('no answer');
    const failing = store.withReadSnapshot!(async (reads) => {
      await reads.facts({ space: 'ward', limit: 1 });
      throw failed;
    });
    await expect(failing).rejects.toBe(failed);
    expect(await objects()).toEqual(['a new', 'z new']);
    await store.close();
  });
}

describe('on sqlite', () => tests((name) => `sqlite:${join(folder, `${name}.db`)}`));
withPostgres('on postgres', (postgres) => tests((name) => postgres.url(name)));
