import { checkMemory, verifyStore } from 'assize/internal/runtime';
import { expect, test } from 'vitest';
import { chatWorld, scripted } from '../../../../tests/support/chat/chat-world.ts';
import { onEveryStore } from '../../../../tests/support/ledger/stores.ts';
import type { ChatFact } from './index.ts';

const objects = (facts: readonly ChatFact[]): string[] => facts.map(({ object }) => object);

onEveryStore(({ newPlace }) => {
  test('a chat is remembered, recalled by pages, and repaired', async () => {
    const store = await newPlace().open();
    const { chat, clock } = await chatWorld({ store });
    const texts = ['green tea', 'black tea', 'tea cups', 'chess', 'NYC'];
    const answer = texts.map((object) => ({
      message: 1,
      subject: 'ida',
      predicate: 'likes',
      object,
      confidence: 1,
    }));
    const model = scripted({ facts: answer });
    const messages = [{ role: 'user', content: texts.join(', '), at: '2026-03-01' }] as const;
    const first = await chat({ model }).remember(messages, { metadata: { channel: 'mail' } });
    expect([first.added.length, first.entries.length]).toEqual([5, 1]);
    const again = await chat({ model }).remember(messages, { metadata: { channel: 'mail' } });
    expect([again.duplicates.length, model.prompts.length]).toEqual([5, 1]);
    const memory = chat();
    await memory.declareAlias({ alias: 'NYC', name: 'New York City' });
    expect(objects((await memory.recall('New York City')).facts)).toEqual(['New York City']);
    const pageOne = await memory.recall('tea', {
      limit: 2,
      filter: { metadata: { channel: 'mail' } },
    });
    clock.forward(1_000);
    const late = [{ message: 1, subject: 'ida', predicate: 'likes', object: 'late tea' }];
    await memory.remember([{ role: 'user', content: 'late', at: '2026-03-02' }], { facts: late });
    const pageTwo = await memory.recall('tea', {
      ...{ limit: 2, filter: { metadata: { channel: 'mail' } } },
      cursor: pageOne.next!,
    });
    expect([...objects(pageOne.facts), ...objects(pageTwo.facts)].sort()).toEqual([
      'black tea',
      'green tea',
      'tea cups',
    ]);
    expect(pageTwo.next).toBeUndefined();
    const all: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const { facts, next } = await memory.recall(undefined, {
        limit: 2,
        ...(cursor !== undefined && { cursor }),
      });
      all.push(...objects(facts));
      cursor = next;
      if (cursor === undefined) break;
    }
    expect(all.sort()).toEqual([
      'New York City',
      'black tea',
      'chess',
      'green tea',
      'late tea',
      'tea cups',
    ]);
    const chess = await memory.recall('chess');
    const board = [{ message: 1, subject: 'ida', predicate: 'plans', object: 'a chess board' }];
    await memory.remember([{ role: 'user', content: 'board', at: '2026-03-03' }], {
      facts: board,
      basedOn: chess.observations,
    });
    const { ruling, withdrawn } = await memory.repair(chess.facts[0]!, { apply: true });
    expect([ruling?.ruling, withdrawn.map(({ object }) => object).sort()]).toEqual([
      'committed',
      ['a chess board', 'chess'],
    ]);
    expect((await memory.recall('chess')).facts).toEqual([]);
    expect((await checkMemory(store)).differences).toEqual([]);
    for (const { fault } of await verifyStore(store)) expect(fault).toBeUndefined();
  });
});
