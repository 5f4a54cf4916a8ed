import { type CommitPayload, readRow } from 'assize/internal/ledger';
import { checkMemory } from 'assize/internal/runtime';
import { describe, expect, test } from 'vitest';
import { chatWorld, scripted } from '../../../../tests/support/chat/chat-world.ts';
import { writFor } from '../../../../tests/support/ledger/runtime.ts';
import type { ChatMessage, Remembered } from './index.ts';

const say = (content: string, at = '2026-03-20'): ChatMessage => ({ role: 'user', content, at });
const LIVES = { message: 1, subject: 'ida', predicate: 'lives in', object: 'NYC' };
const objects = (facts: readonly { readonly object: string }[]): string[] =>
  facts.map(({ object }) => object);
const sums = (done: Remembered) =>
  Object.fromEntries(
    Object.entries(done)
      .map(([name, list]) => [name, (list as unknown[]).length] as const)
      .filter(([name, count]) => name !== 'entries' && count > 0),
  );

describe('remember', () => {
  test('records the facts of messages, and recall returns them with a text', async () => {
    const { chat } = await chatWorld();
    const model = scripted({ facts: [{ ...LIVES, confidence: 0.9, from: null, to: null }] });
    const memory = chat({ model });
    const done = await memory.remember([say('I live in NYC.')], { user: 'ida' });
    expect(sums(done)).toEqual({ added: 1 });
    expect(model.prompts[0]).toContain('"author":"ida"');
    const { facts, context, tokens, next } = await memory.recall('Where does Ida live?', {
      user: 'ida',
    });
    expect(facts).toMatchObject([
      { space: 'user:ida', subject: 'ida', object: 'NYC', confidence: 0.9 },
    ]);
    expect(facts[0]!.sources).toMatchObject([
      { entry: done.entries[0], source: done.added[0]!.source },
    ]);
    expect(context.split('\n')[2]).toBe(
      `{"id":"${facts[0]!.id.slice(0, 12)}","from":"2026-03-20","subject":"ida","predicate":"lives in","object":"NYC","space":"user:ida","said_by":["user ida"]}`,
    );
    expect([tokens > 0, next]).toEqual([true, undefined]);
  });

  test('a repeated call asks no model and changes nothing, also without dates', async () => {
    const { chat, clock } = await chatWorld();
    const model = scripted({ facts: [{ ...LIVES, confidence: 1, from: null, to: null }] });
    const messages: ChatMessage[] = [{ role: 'user', content: 'I live in NYC.' }];
    const first = await chat({ model }).remember(messages, { user: 'ida' });
    clock.forward(86_400_000);
    const again = await chat({ model }).remember(messages, { user: 'ida' });
    expect([sums(first), sums(again), model.prompts.length]).toEqual([
      { added: 1 },
      { duplicates: 1 },
      1,
    ]);
    expect((await chat().recall(undefined, { user: 'ida', at: 'any' })).facts).toHaveLength(1);
  });

  test('a key names the call, and other messages under it are refused', async () => {
    const { chat, clock } = await chatWorld();
    const memory = chat();
    await memory.remember([{ role: 'user', content: 'a' }], { key: 'k1', facts: [LIVES] });
    clock.forward(1_000);
    const again = await memory.remember([{ role: 'user', content: 'a' }], {
      key: 'k1',
      facts: [LIVES],
    });
    expect(sums(again)).toEqual({ duplicates: 1 });
    await expect(
      memory.remember([{ role: 'user', content: 'b' }], { key: 'k1', facts: [] }),
    ).rejects.toMatchObject({
      code: 'idempotency_conflict',
      message: expect.stringContaining('other messages'),
    });
    // Another space has keys of its own.
    await memory.remember([{ role: 'user', content: 'b' }], { key: 'k1', facts: [], user: 'otto' });
  });

  test('keeps the good facts and names the others', async () => {
    const { chat } = await chatWorld();
    const facts = [
      LIVES,
      { ...LIVES, predicate: 'admin' },
      { ...LIVES, message: 9 },
      { ...LIVES, subject: '' },
    ];
    const done = await chat().remember([say('I live in NYC.')], { facts });
    expect(sums(done)).toEqual({ added: 1, skipped: 3 });
    expect(done.skipped.map(({ why }) => why)).toEqual([
      expect.stringContaining('no predicate "admin" is declared'),
      expect.stringContaining('/message'),
      expect.stringContaining('/subject'),
    ]);
    expect(sums(await chat().remember([say('b')], { facts: facts.slice(1) }))).toEqual({
      skipped: 3,
    });
  });

  test('numbers facts by the given messages, and skips those of other roles', async () => {
    const { chat } = await chatWorld();
    const rules: ChatMessage = { role: 'system', content: 'You are kind.', at: '2026-03-19' };
    const facts = [LIVES, { ...LIVES, message: 2, object: 'Oslo' }];
    const memory = chat();
    const done = await memory.remember([rules, say('I live in Oslo.', '2026-03-21')], { facts });
    expect(objects(done.added)).toEqual(['Oslo']);
    expect(done.skipped.map(({ why }) => why)).toEqual([
      expect.stringContaining('message 1 has the role system'),
    ]);
    expect((await memory.recall()).facts).toMatchObject([
      { object: 'Oslo', valid_from: '2026-03-21T00:00:00.000000Z' },
    ]);
    expect(sums(await memory.remember([rules], { facts: [LIVES] }))).toEqual({ skipped: 1 });
  });

  test('tells added, changed, duplicate and contradicted facts apart', async () => {
    const { chat } = await chatWorld();
    const memory = chat();
    const lives = (object: string, from: string) => [{ ...LIVES, object, from }];
    expect(sums(await memory.remember([say('1')], { facts: lives('Oslo', '2024-01-01') }))).toEqual(
      { added: 1 },
    );
    const moved = await memory.remember([say('2')], { facts: lives('NYC', '2025-01-01') });
    expect(moved.changed).toMatchObject([{ object: 'NYC', was: ['Oslo'] }]);
    expect(sums(await memory.remember([say('3')], { facts: lives('NYC', '2025-06-01') }))).toEqual({
      duplicates: 1,
    });
    // Late news of an old state holds until the newer one.
    const late = await memory.remember([say('4')], { facts: lives('Bonn', '2024-06-01') });
    expect(late.changed).toMatchObject([{ object: 'Bonn', was: ['Oslo'] }]);
    const over = await memory.remember([say('5')], {
      facts: [{ ...LIVES, object: 'Rome', from: '2023-01-01' }],
    });
    expect(over.contradicted).toMatchObject([
      { object: 'Rome', by: expect.arrayContaining(['Oslo']) },
    ]);
    const { facts } = await memory.recall(undefined, { at: 'any' });
    expect(
      facts.map(({ object, valid_from }) => `${object} ${valid_from.slice(0, 10)}`).sort(),
    ).toEqual([
      'Bonn 2024-06-01',
      'NYC 2025-01-01',
      // Two statements confirm it from here on.
      'NYC 2025-06-01',
      'Oslo 2024-01-01',
      'Rome 2023-01-01',
    ]);
  });

  test('tells a repeated fact that lost, was withdrawn or was erased', async () => {
    const { chat, world } = await chatWorld();
    const memory = chat();
    const told = (content: string, object: string, from: string) =>
      memory.remember([say(content)], { facts: [{ ...LIVES, object, from }] });
    await told('1', 'Oslo', '2024-01-01');
    await told('2', 'NYC', '2025-01-01');
    await told('3', 'Rome', '2024-01-01');
    const repeated = async (content: string, object: string, from: string) =>
      sums(await told(content, object, from));
    expect(await repeated('1', 'Oslo', '2024-01-01')).toEqual({ contradicted: 1 });
    expect((await told('1', 'Oslo', '2024-01-01')).contradicted).toMatchObject([{ by: ['Rome'] }]);
    expect(await repeated('2', 'NYC', '2025-01-01')).toEqual({ duplicates: 1 });
    const { facts } = await memory.recall(undefined, { at: '2024-06-01' });
    expect(objects(facts)).toEqual(['Rome']);
    await memory.repair(facts[0]!, { apply: true });
    expect(await repeated('3', 'Rome', '2024-01-01')).toEqual({ withdrawn: 1 });
    const again = [{ ...LIVES, object: 'Rome', from: '2024-01-01', to: '2025-01-01' }];
    // Only Rome had displaced Oslo, so Oslo was believed again.
    expect(sums(await memory.remember([say('3 again')], { facts: again }))).toEqual({ changed: 1 });
    expect(await repeated('3', 'Rome', '2024-01-01')).toEqual({ duplicates: 1 });
    const own = world.trajectory.memory({ space: 'chat', writ: writFor('ops') });
    await own.erase({ subject: 'ida', reason: 'their wish' });
    expect(await repeated('1', 'Oslo', '2024-01-01')).toEqual({ added: 1 });
  });

  test('a fact that ends is a change', async () => {
    const { chat } = await chatWorld();
    const memory = chat();
    await memory.remember([say('1')], { facts: [{ ...LIVES, predicate: 'likes', object: 'tea' }] });
    const ended = [{ ...LIVES, predicate: 'likes', object: 'tea', from: null, to: '2026-03-22' }];
    expect((await memory.remember([say('2')], { facts: ended })).changed).toMatchObject([
      { object: 'tea' },
    ]);
    expect((await memory.recall('tea')).facts).toEqual([]);
    expect(objects((await memory.recall('tea', { at: '2026-03-21' })).facts)).toEqual(['tea']);
  });

  test('a contested fact of an `await` predicate is a question', async () => {
    const { chat, world } = await chatWorld({
      domain: {
        predicates: {
          diet: { cardinality: 'single-valued', strategy: 'await' },
          likes: { cardinality: 'multi-valued', strategy: 'lww' },
        },
      },
    });
    const memory = chat();
    const diet = { ...LIVES, predicate: 'diet', object: 'vegan' };
    await memory.remember([say('1')], { facts: [diet] });
    const facts = [
      { ...diet, object: 'vegetarian' },
      { ...LIVES, predicate: 'likes', object: 'tofu' },
    ];
    const done = await memory.remember([say('2')], { facts });
    expect(sums(done)).toEqual({ added: 1, questions: 1 });
    const [{ pending, facts: asked }] = done.questions as [(typeof done.questions)[0]];
    expect(objects(asked)).toEqual(['vegetarian']);
    const [question] = await world.trajectory.approvals.questionsOf(pending);
    const winner = question!.members.find(({ object }) => object === 'vegetarian')!.claim;
    await world.trajectory.approvals.approve(pending, {
      principal: 'grace',
      method: 'test',
      answers: [{ request: question!.request, winner }],
    });
    expect(objects((await memory.recall('diet')).facts)).toEqual(['vegetarian']);
    expect(
      objects((await memory.recall(undefined, { filter: { trust: { approver: 'grace' } } })).facts),
    ).toEqual(['vegetarian']);
  });

  test('without a model and without facts it is refused, and nothing is recorded', async () => {
    const { chat, world } = await chatWorld();
    const { head } = world.trajectory;
    await expect(chat().remember([say('a')])).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(/The memory has no model to|Set `model`, or pass the facts/),
    });
    await expect(chat().remember([])).rejects.toMatchObject({ code: 'bad_argument' });
    await expect(
      chat().remember([say('a')], { facts: [LIVES], metadata: { a: null as never } }),
    ).rejects.toMatchObject({ reason: 'bad_metadata' });
    await expect(chat().remember([say('a', 'soon')], { facts: [LIVES] })).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('Message 1'),
    });
    expect(world.trajectory.head).toBe(head);
    expect(sums(await chat().remember([{ role: 'system', content: 'x' }]))).toEqual({});
  });

  test('a space that the writ does not cover is neither written nor read', async () => {
    const { chat, world } = await chatWorld({ scopes: ['memory:user~3aida:**'] });
    const memory = chat();
    expect(sums(await memory.remember([say('a')], { user: 'ida', facts: [LIVES] }))).toEqual({
      added: 1,
    });
    const model = scripted({ aliases: [] });
    const refused = {
      code: 'forbidden',
      message: expect.stringContaining('user:otto'),
      evidence: { space: 'user:otto' },
    };
    const { head } = world.trajectory;
    for (const call of [
      () => memory.remember([say('a')], { user: 'otto', facts: [LIVES] }),
      () => chat({ model }).remember([say('a')], { user: 'otto' }),
      () => chat({ model }).proposeAliases({ user: 'otto' }),
      () => memory.aliases({ user: 'otto' }),
      () => memory.recall('NYC', { spaces: ['user:ida', 'user:otto'] }),
      () => memory.repair({ id: 'f'.repeat(64), space: 'user:otto' }),
    ])
      await expect(call()).rejects.toMatchObject(refused);
    expect([model.prompts, world.trajectory.head]).toEqual([[], head]);
  });
});

describe('erasure', () => {
  test('leaves no text, no answer of the model and no metadata of a subject', async () => {
    const { chat, store, world } = await chatWorld();
    const model = scripted({ facts: [{ ...LIVES, confidence: 1, from: null, to: null }] });
    const memory = chat({ model });
    const messages: ChatMessage[] = [{ role: 'user', content: 'I live in NYC.' }];
    const options = { key: 'k1', metadata: { ticket: 'T-4711' } };
    await memory.remember(messages, options);
    const facts = world.trajectory.memory({ space: 'chat', writ: writFor('ops') });
    const [before] = (await memory.recall()).facts;
    expect(before!.sources).toMatchObject([{ metadata: { ticket: 'T-4711' } }]);
    await facts.erase({ subject: 'ida', reason: 'their wish' });
    expect((await memory.recall(undefined, { at: 'any' })).facts).toEqual([]);
    expect((await memory.recall('NYC')).context).toBe('');
    const rows = await store.entries('chat', { from: 0, limit: 100 });
    const [commit] = rows.filter(({ kind }) => kind === 'commit');
    const { observations } = readRow(commit!).payload as CommitPayload;
    const keys = observations.flatMap(({ oracle_key }) => oracle_key ?? []);
    expect(keys).toHaveLength(2);
    for (const key of keys)
      expect(await store.oracleGet(key)).toMatchObject({
        answer: '',
        erased_by: expect.any(String),
      });
    expect(await facts.sources([before!.row])).toEqual([[{ entry: before!.row.entry_id, n: 0 }]]);
    await expect(memory.remember(messages, options)).rejects.toMatchObject({ code: 'erased' });
    expect(model.prompts).toHaveLength(1);
  });
});

describe('aliases', () => {
  const APPLE = { alias: 'NYC', name: 'New York City' };

  test('a reworded statement is a duplicate, by options or by the ledger', async () => {
    const { chat } = await chatWorld();
    const memory = chat({ aliases: { predicates: { 'lives in': ['home city'] } } });
    expect((await memory.declareAlias(APPLE)).ruling).toBe('committed');
    expect(sums(await memory.remember([say('1')], { facts: [LIVES] }))).toEqual({ added: 1 });
    const facts = [{ ...LIVES, predicate: 'home city', object: 'new york city' }];
    expect(sums(await memory.remember([say('2')], { facts }))).toEqual({ duplicates: 1 });
    const { facts: found } = await memory.recall('Who lives in NYC?');
    expect(found).toMatchObject([{ object: 'New York City', predicate: 'lives in' }]);
    expect(await memory.aliases()).toEqual({
      names: [{ name: 'New York City', all: ['New York City', 'NYC'] }],
      predicates: [{ name: 'lives in', all: ['lives in', 'home city'] }],
    });
  });

  test('an alias declared later joins the facts of both names without a change', async () => {
    const { chat } = await chatWorld();
    const memory = chat();
    await memory.remember([say('1')], { facts: [LIVES] });
    await memory.declareAlias(APPLE);
    expect(
      sums(
        await memory.remember([say('2', '2026-03-21')], {
          facts: [{ ...LIVES, object: 'New York City' }],
        }),
      ),
    ).toEqual({ duplicates: 1 });
    expect((await memory.recall('New York City')).facts).toMatchObject([
      { object: 'New York City', stated: { object: 'NYC' } },
    ]);
  });

  test('a fact that contradicts one of another name from before is settled', async () => {
    const { chat } = await chatWorld();
    const memory = chat();
    await memory.remember([say('1')], { facts: [LIVES] });
    await memory.declareAlias({ alias: 'ida', name: 'Ida Noddack' });
    const moved = { ...LIVES, subject: 'Ida Noddack', object: 'Bonn' };
    const done = await memory.remember([say('2', '2026-03-21')], { facts: [moved] });
    expect(done.changed).toMatchObject([{ object: 'Bonn', was: ['NYC'] }]);
    const { facts } = await memory.recall('Where does Ida Noddack live?');
    expect(facts).toMatchObject([
      { subject: 'Ida Noddack', object: 'Bonn', stated: { subject: 'ida' } },
    ]);
    expect(facts[0]).not.toHaveProperty('contradictedBy');
  });

  test('contradictions between facts of two names of a subject appear', async () => {
    const { chat } = await chatWorld();
    const memory = chat();
    await memory.remember([say('1')], { facts: [LIVES] });
    await memory.remember([say('2')], {
      facts: [{ ...LIVES, subject: 'Ida Noddack', object: 'Bonn' }],
    });
    await memory.remember([say('3')], {
      facts: [{ ...LIVES, subject: 'Ida Noddack', predicate: 'diet', object: 'vegan' }],
    });
    await memory.remember([say('4')], {
      facts: [{ ...LIVES, predicate: 'diet', object: 'vegan' }],
    });
    await memory.declareAlias({ alias: 'ida', name: 'Ida Noddack' });
    const { facts, context } = await memory.recall('Where does Ida live?', {
      filter: { predicates: ['lives in'] },
    });
    expect(
      facts
        .map(({ object, contradictedBy }) => [object, contradictedBy?.map((other) => other.object)])
        .sort(),
    ).toEqual([
      ['Bonn', ['NYC']],
      ['NYC', ['Bonn']],
    ]);
    expect(context).toContain('"contested":true');
    const { facts: diets } = await memory.recall(undefined, {
      filter: { subjects: ['IDA'], predicates: ['diet'] },
    });
    expect(diets).toMatchObject([{ subject: 'Ida Noddack', object: 'vegan' }]);
    expect(diets[0]!.sources).toHaveLength(2);
  });

  test('an alias is bitemporal and can be ended', async () => {
    const { chat, clock } = await chatWorld();
    const memory = chat();
    await memory.remember([say('1')], { facts: [LIVES] });
    const before = clock.at;
    clock.forward(1_000);
    await memory.declareAlias(APPLE);
    clock.forward(1_000);
    expect(objects((await memory.recall('New York City')).facts)).toEqual(['New York City']);
    expect(objects((await memory.recall('New York City', { asOf: before })).facts)).toEqual([]);
    expect((await memory.removeAlias(APPLE)).ruling).toBe('committed');
    expect((await memory.aliases()).names).toEqual([]);
    expect(objects((await memory.recall('NYC')).facts)).toEqual(['NYC']);
  });

  test('a model proposes an alias, and a person confirms it', async () => {
    const { chat, world } = await chatWorld();
    const model = scripted({
      aliases: [APPLE, { alias: 'NYC', name: 'Mars' }, { alias: 'NYC', name: 'NYC' }],
    });
    const memory = chat({ model });
    await memory.remember([say('1')], {
      facts: [LIVES, { ...LIVES, subject: 'otto', object: 'New York City' }],
    });
    const { questions } = await memory.proposeAliases();
    expect(questions).toMatchObject([APPLE]);
    expect((await memory.aliases()).names).toEqual([]);
    const { pending } = questions[0]!;
    const [question] = await world.trajectory.approvals.questionsOf(pending);
    expect(objects(question!.members).sort()).toEqual(['NYC', 'New York City']);
    const winner = question!.members.find(({ object }) => object === 'New York City')!.claim;
    const approval = {
      principal: 'grace',
      method: 'test',
      answers: [{ request: question!.request, winner }],
    };
    await expect(
      world.trajectory.approvals.approve(pending, { ...approval, principal: 'agent:helper' }),
    ).rejects.toMatchObject({ code: 'unauthorised_counselor' });
    await world.trajectory.approvals.approve(pending, approval);
    expect((await memory.aliases()).names).toMatchObject([{ name: 'New York City' }]);
    expect(await memory.proposeAliases()).toEqual({ questions: [] });
    expect(model.prompts).toHaveLength(1);
  });

  test('a refused alias has a code', async () => {
    const { chat } = await chatWorld();
    for (const wrong of [
      { alias: 'nyc', name: 'NYC' },
      { alias: 'home', name: 'dwells in', of: 'predicate' as const },
    ])
      await expect(chat().declareAlias(wrong)).rejects.toMatchObject({
        code: 'bad_argument',
        message: expect.stringMatching(
          /Pass another name of the same|The domain declares no predicate/,
        ),
      });
    await expect(chat().proposeAliases()).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(/The memory has no model to|Set `model`, or pass the facts/),
    });
  });
});

describe('recall', () => {
  test('filters by metadata, predicate, subject, period and confidence', async () => {
    const { chat } = await chatWorld();
    const memory = chat();
    await memory.remember([say('1')], {
      facts: [LIVES],
      metadata: { channel: 'mail', thread: 't1' },
    });
    await memory.remember([{ ...say('2'), metadata: { thread: 't2', urgent: true } }], {
      facts: [
        {
          ...LIVES,
          subject: 'otto',
          predicate: 'likes',
          object: 'NYC',
          confidence: 0.4,
          to: '2026-06-01',
        },
      ],
      metadata: { channel: 'mail' },
    });
    const found = async (filter: object) =>
      objects((await memory.recall('NYC', { filter })).facts).length;
    expect(await found({ metadata: { channel: 'mail' } })).toBe(2);
    expect(await found({ metadata: { channel: 'mail', thread: 't2' } })).toBe(1);
    expect(await found({ metadata: { urgent: true } })).toBe(1);
    expect(await found({ metadata: { urgent: 'true' } })).toBe(0);
    expect(await found({ predicates: ['likes'] })).toBe(1);
    expect(await found({ subjects: ['otto', 'eva'] })).toBe(1);
    expect(await found({ confidenceMin: 0.5 })).toBe(1);
    expect(await found({ during: { from: '2026-07-01' } })).toBe(1);
    const { facts } = await memory.recall('NYC', { filter: { metadata: { thread: 't2' } } });
    expect(facts[0]!.sources).toMatchObject([
      { metadata: { channel: 'mail', thread: 't2', urgent: true } },
    ]);
    await expect(memory.recall('NYC', { filter: { place: 'x' } as never })).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('The argument filter.place must be left out, because it is'),
    });
    await expect(memory.recall('NYC', { filter: { trust: {} as never } })).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(/Name one of approver, policy|The period of a filter is not/),
    });
  });

  test('fuses the ranks of several spaces, and each fact names its space', async () => {
    const { chat } = await chatWorld();
    const memory = chat();
    await memory.remember([say('1')], { user: 'ida', facts: [LIVES] });
    await memory.remember([say('2')], {
      space: 'team',
      facts: [{ ...LIVES, subject: 'the office', predicate: 'note', object: 'is in NYC' }],
    });
    const { facts, observations } = await memory.recall('NYC', { spaces: ['user:ida', 'team'] });
    expect(facts.map(({ space }) => space).sort()).toEqual(['team', 'user:ida']);
    expect(observations.map(({ value }) => (value as { rows: unknown[] }).rows.length)).toEqual([
      1, 1,
    ]);
  });

  test('the budget bounds the text and not the facts', async () => {
    const { chat } = await chatWorld();
    const memory = chat({ countTokens: (text) => text.length });
    const facts = Array.from({ length: 8 }, (_, n) => ({
      ...LIVES,
      predicate: 'note',
      object: `likes NYC number ${n}`,
    }));
    await memory.remember([say('1')], { facts });
    const { facts: found, context, tokens } = await memory.recall('NYC', { budget: 500 });
    expect([found.length, tokens <= 500, context.length]).toEqual([8, true, tokens]);
    expect((await memory.recall('NYC', { budget: 10 })).context).toBe('');
  });

  test('a cursor of another recall is refused', async () => {
    const { chat } = await chatWorld();
    const memory = chat();
    const facts = ['a', 'b', 'c'].map((object) => ({
      ...LIVES,
      predicate: 'note',
      object: `NYC ${object}`,
    }));
    await memory.remember([say('1')], { facts });
    const { next } = await memory.recall('NYC', { limit: 2 });
    expect((await memory.recall('NYC', { limit: 1, cursor: next! })).facts).toHaveLength(1);
    for (const [question, cursor] of [
      ['Bonn', next!],
      ['NYC', 'e30'],
      ['NYC', '###'],
    ] as const)
      await expect(memory.recall(question, { cursor })).rejects.toMatchObject({
        code: 'bad_argument',
        message: expect.stringContaining('Repeat the recall without a'),
      });
    await expect(memory.recall(undefined, { cursor: next! })).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('Repeat the recall without a'),
    });
  });
});

describe('repair', () => {
  test('withdraws what was concluded from a false fact, and nothing else', async () => {
    const { chat, store, clock } = await chatWorld();
    const memory = chat();
    await memory.remember([say('1')], {
      facts: [LIVES, { ...LIVES, predicate: 'likes', object: 'tea' }],
    });
    const lived = await memory.recall('lives NYC', { filter: { predicates: ['lives in'] } });
    const tea = await memory.recall('tea', { filter: { predicates: ['likes'] } });
    clock.forward(1_000);
    const plan = { ...LIVES, predicate: 'plans', object: 'a subway ticket' };
    await memory.remember([say('2')], { facts: [plan], basedOn: lived.observations });
    await memory.remember([say('3')], {
      facts: [{ ...plan, object: 'a tea pot' }],
      basedOn: tea.observations,
    });
    const ticket = await memory.recall('ticket', { filter: { predicates: ['plans'] }, limit: 1 });
    clock.forward(1_000);
    await memory.remember([say('4')], {
      facts: [{ ...plan, object: 'a wallet' }],
      basedOn: ticket.observations,
    });
    const listed = await memory.repair(lived.facts[0]!);
    expect(listed).toMatchObject({ isBelieved: true, decisions: [], unresolved: [] });
    expect(objects(listed.withdrawn).sort()).toEqual(['NYC', 'a subway ticket', 'a wallet']);
    expect(listed.ruling).toBeUndefined();
    expect(objects((await memory.recall()).facts)).toHaveLength(5);
    const done = await memory.repair({ id: lived.facts[0]!.id, space: 'chat' }, { apply: true });
    expect(done.ruling).toMatchObject({ ruling: 'committed' });
    expect(objects((await memory.recall()).facts).sort()).toEqual(['a tea pot', 'tea']);
    expect(await memory.repair(lived.facts[0]!)).toMatchObject({
      isBelieved: false,
      withdrawn: [],
    });
    expect((await checkMemory(store)).differences).toEqual([]);
    await expect(memory.repair({ id: 'none', space: 'chat' })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('has no fact none'),
    });
  });

  test('withdraws single statements of a message, with what they concluded', async () => {
    const { chat, clock, store } = await chatWorld();
    const memory = chat();
    const likes = (object: string, from = '2026-03-01') => ({
      ...LIVES,
      predicate: 'likes',
      object,
      from,
    });
    await memory.remember([say('1')], { facts: [likes('tea'), likes('milk')] });
    const tea = await memory.recall('tea');
    clock.forward(1_000);
    await memory.remember([say('2')], {
      facts: [likes('cake'), likes('jam')],
      basedOn: tea.observations,
    });
    // The message of tea also states milk. Milk stays.
    const done = await memory.repair(tea.facts[0]!, { apply: true });
    expect(objects(done.withdrawn).sort()).toEqual(['cake', 'jam', 'tea']);
    expect(done.ruling).toMatchObject({ ruling: 'committed' });
    expect(objects((await memory.recall()).facts)).toEqual(['milk']);
    expect((await checkMemory(store)).differences).toEqual([]);
  });

  test('lists statements with entry and time, and keeps others of the message', async () => {
    const { chat, clock } = await chatWorld();
    const memory = chat();
    const likes = (object: string) => ({ ...LIVES, predicate: 'likes', object });
    const first = await memory.remember([say('1')], {
      facts: [likes('tea'), likes('coffee'), LIVES],
    });
    const tea = await memory.recall('tea', { filter: { predicates: ['likes'] } });
    clock.forward(1_000);
    const plan = { ...LIVES, predicate: 'plans', object: 'a tea pot' };
    const second = await memory.remember([say('2')], { facts: [plan], basedOn: tea.observations });
    const { withdrawn } = await memory.repair(tea.facts.find(({ object }) => object === 'tea')!, {
      apply: true,
    });
    expect(withdrawn.map(({ object, as, entry }) => [object, as, entry]).sort()).toEqual([
      ['a tea pot', 'conclusion', second.entries[0]],
      ['tea', 'fact', first.entries[0]],
    ]);
    expect(withdrawn[0]!.at < withdrawn[1]!.at).toBe(true);
    expect(objects((await memory.recall()).facts).sort()).toEqual(['NYC', 'coffee']);
    expect(
      objects((await memory.remember([say('1')], { facts: [likes('tea')] })).withdrawn),
    ).toEqual(['tea']);
  });

  test('withdraws a fact without a source, and one conclusion of a wider source', async () => {
    const { chat, world } = await chatWorld();
    const memory = chat();
    const own = world.trajectory.memory({
      space: 'chat',
      writ: writFor('agent:helper', { actions: ['assize.believe'] }),
    });
    await own.assert({ subject: 'ida', predicate: 'likes', object: 'tea' });
    const tea = await memory.recall('tea');
    const likes = (object: string) => ({ ...LIVES, predicate: 'plans', object });
    await memory.remember([say('1')], { facts: [likes('a walk')] });
    await memory.remember([say('1')], { facts: [likes('a tea pot')], basedOn: tea.observations });
    const { withdrawn, unresolved } = await memory.repair(tea.facts[0]!, { apply: true });
    expect([objects(withdrawn), unresolved]).toEqual([['tea', 'a tea pot'], []]);
    expect(objects((await memory.recall()).facts)).toEqual(['a walk']);
  });

  test('what the fact had displaced holds again, in the same commit', async () => {
    const { chat, clock, store } = await chatWorld();
    const memory = chat();
    await memory.remember([say('1')], { facts: [{ ...LIVES, object: 'Bonn' }] });
    clock.forward(1_000);
    // The message also states something else of the subject and predicate, for another period.
    const later = { ...LIVES, object: 'Rome', from: '2027-01-01' };
    await memory.remember([say('2')], { facts: [{ ...LIVES, object: 'Paris' }, later] });
    const { facts } = await memory.recall('Paris', { at: 'any' });
    const paris = facts.find(({ object }) => object === 'Paris')!;
    const { restored, ruling } = await memory.repair(paris, { apply: true });
    const entry_id = ruling?.ruling === 'committed' ? ruling.entry.id : '';
    expect(restored).toMatchObject([
      { object: 'Bonn', valid_to: later.from + 'T00:00:00.000000Z', entry_id },
    ]);
    expect(objects((await memory.recall(undefined, { at: 'any' })).facts)).toEqual([
      'Rome',
      'Bonn',
    ]);
    expect((await checkMemory(store)).differences).toEqual([]);
  });

  test('a conclusion with another support stays', async () => {
    const { chat } = await chatWorld();
    const memory = chat();
    await memory.remember([say('1')], { facts: [LIVES] });
    const lived = await memory.recall('NYC');
    const plan = { ...LIVES, predicate: 'plans', object: 'a subway ticket' };
    await memory.remember([say('2')], { facts: [plan], basedOn: lived.observations });
    await memory.remember([say('3')], { facts: [plan] });
    await memory.repair(lived.facts[0]!, { apply: true });
    expect(objects((await memory.recall()).facts)).toEqual(['a subway ticket']);
  });
});
