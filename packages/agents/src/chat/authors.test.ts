import { MemoryView } from 'assize/internal/runtime';
import { expect, test, vi } from 'vitest';
import { chatWorld } from '../../../../tests/support/chat/chat-world.ts';
import type { ChatMemoryOptions } from './chat-memory.ts';
import type { ChatMessage } from './messages.ts';

/** A memory of the space `team`, with a short form to say where Ida lives. */
async function world(options: ChatMemoryOptions = {}) {
  const { chat, clock } = await chatWorld();
  const memory = chat({ space: 'team', ...options });
  let said = 0;
  const says = async (by: string | undefined, object: string, to?: string) => {
    clock.forward(1_000);
    said++;
    const message: ChatMessage =
      by === 'assistant'
        ? { role: 'assistant', content: `${said}: a page says ${object}` }
        : { role: 'user', content: `${said}: ${object}`, ...(by !== undefined && { name: by }) };
    const at = `2026-03-0${said}`;
    const fact = {
      message: 1,
      subject: 'ida',
      predicate: 'lives in',
      object,
      ...(to !== undefined && { to }),
    };
    return memory.remember([{ ...message, at }], { facts: [fact] });
  };
  const home = async () => (await memory.recall('where does ida live', { at: '2026-04-01' })).facts;
  return { memory, says, home, clock };
}

test('a page that an assistant quotes replaces nothing that a user said', async () => {
  const { memory, says, home } = await world();
  await says('assistant', 'Lima');
  expect((await says('ida', 'Bonn')).changed).toMatchObject([{ was: ['Lima'] }]);
  expect((await says('assistant', 'Oslo')).contradicted).toMatchObject([
    { object: 'Oslo', by: ['Bonn'] },
  ]);
  const [fact, ...others] = await home();
  expect(others).toEqual([]);
  expect(fact).toMatchObject({
    object: 'Bonn',
    sources: [{ author: { role: 'user', name: 'ida' } }],
  });
  expect(fact!.contradictedBy).toBeUndefined();
  const { context } = await memory.recall('where does ida live', { at: '2026-04-01' });
  expect(JSON.parse(context.split('\n')[2]!)).toMatchObject({
    object: 'Bonn',
    said_by: ['user ida'],
  });
  // Without the user's word, the last word of the assistant holds.
  const { ruling } = await memory.repair(fact!, { apply: true });
  expect(ruling).toMatchObject({ ruling: 'committed' });
  expect(await home()).toMatchObject([
    { object: 'Oslo', sources: [{ author: { role: 'assistant' } }] },
  ]);
});

test('what another user says stays beside the fact until a person decides', async () => {
  const { memory, says, home } = await world();
  await says('ida', 'Bonn');
  expect((await says('eve', 'Rome')).contradicted).toMatchObject([
    { object: 'Rome', by: ['Bonn'] },
  ]);
  const eve = { object: 'Rome', authors: [{ role: 'user', name: 'eve' }] };
  const [bonn] = await home();
  expect(bonn).toMatchObject({ object: 'Bonn', contradictedBy: [eve] });
  const { context } = await memory.recall('where does ida live', { at: '2026-04-01' });
  expect(JSON.parse(context.split('\n')[2]!)).toMatchObject({
    said_by: ['user ida'],
    contested: true,
  });
  // The same user changes her mind, and the other one still contradicts her.
  expect((await says('ida', 'Lima')).changed).toMatchObject([{ was: ['Bonn'] }]);
  const [lima] = await home();
  expect(lima).toMatchObject({ object: 'Lima', contradictedBy: [eve] });
  await memory.repair(lima!, { apply: true });
  expect(await home()).toMatchObject([{ object: 'Bonn', contradictedBy: [eve] }]);
  await memory.repair((await home())[0]!, { apply: true });
  const [rome] = await home();
  expect(rome).toMatchObject({ object: 'Rome' });
  expect(rome!.contradictedBy).toBeUndefined();
});

test('another user who agrees later contradicts no more', async () => {
  const { says, home } = await world();
  await says('ida', 'Bonn');
  await says('eve', 'Rome');
  expect((await says('eve', 'Bonn')).duplicates).toMatchObject([{ object: 'Bonn' }]);
  const [fact] = await home();
  expect(fact!.contradictedBy).toBeUndefined();
  // Now both have said it, so neither can change it alone.
  expect((await says('ida', 'Lima')).contradicted).toMatchObject([
    { object: 'Lima', by: ['Bonn'] },
  ]);
});

test('an assistant or another user cannot end what a user said', async () => {
  const { says, home } = await world();
  await says('ida', 'Bonn');
  for (const by of ['assistant', 'eve'])
    expect((await says(by, 'Bonn', '2026-03-20')).contradicted).toMatchObject([
      { object: 'Bonn', by: ['Bonn'] },
    ]);
  expect(await home()).toMatchObject([{ object: 'Bonn' }]);
  expect((await says('ida', 'Bonn', '2026-03-20')).changed).toMatchObject([{ was: ['Bonn'] }]);
  expect(await home()).toEqual([]);
});

test('users of one voice replace one another', async () => {
  const { says, home } = await world({ otherUsers: 'replace' });
  await says('ida', 'Bonn');
  expect((await says('eve', 'Rome')).changed).toMatchObject([{ was: ['Bonn'] }]);
  expect((await says('assistant', 'Oslo')).contradicted).toMatchObject([{ by: ['Rome'] }]);
  expect(await home()).toMatchObject([
    { object: 'Rome', sources: [{ author: { name: 'eve', shared: true } }] },
  ]);
});

test('a user without a name replaces only what another such user said', async () => {
  const unnamed = await world();
  await unnamed.says(undefined, 'Bonn');
  expect((await unnamed.says(undefined, 'Rome')).changed).toHaveLength(1);
  expect((await unnamed.says('ida', 'Lima')).changed).toHaveLength(1);
  expect((await unnamed.says(undefined, 'Rome')).contradicted).toMatchObject([{ by: ['Lima'] }]);
});

test('a filter selects the facts of an author', async () => {
  const { memory, says } = await world();
  await says('ida', 'Bonn');
  await memory.remember([{ role: 'assistant', content: 'Ida likes tea', at: '2026-03-02' }], {
    facts: [{ message: 1, subject: 'ida', predicate: 'likes', object: 'tea' }],
  });
  const by = async (author: { role?: 'user' | 'assistant'; name?: string }) =>
    (await memory.recall(undefined, { at: '2026-04-01', filter: { author } })).facts.map(
      ({ object }) => object,
    );
  expect(await by({ role: 'user' })).toEqual(['Bonn']);
  expect(await by({ role: 'assistant' })).toEqual(['tea']);
  expect(await by({ name: 'ida' })).toEqual(['Bonn']);
  expect(await by({ name: 'eve' })).toEqual([]);
});

test('the word of another user is found among any number of others', async () => {
  const { chat, clock } = await chatWorld();
  const memory = chat({ space: 'team' });
  for (const [n, [name, object]] of [
    ['ida', 'Bonn'],
    ['eve', 'Rome'],
    ['ben', 'Oslo'],
    ['eve', 'Lima'],
  ].entries()) {
    clock.forward(1_000);
    const fact = { message: 1, subject: 'ida', predicate: 'lives in', object: object! };
    await memory.remember([{ role: 'user', content: `${n}`, name: name!, at: '2026-03-01' }], {
      facts: [fact],
    });
  }
  const { recall } = MemoryView.prototype;
  // A recall returns a limited number of rows.
  vi.spyOn(MemoryView.prototype, 'recall').mockImplementation(function (this: MemoryView, query) {
    return recall.call(this, { ...query, ...(query?.kind === 'audit' && { limit: 1 }) });
  });
  const { facts } = await memory.recall('where does ida live', { at: '2026-04-01' });
  vi.restoreAllMocks();
  expect(facts[0]?.contradictedBy?.map(({ object }) => object)).toEqual(['Lima', 'Oslo']);
});
