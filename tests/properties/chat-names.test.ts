import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChatFact, ChatMemory, RecallOptions } from '#chat';
import { Aliases, type AliasPair } from '../../packages/agents/src/chat/aliases.ts';
import { cases } from '../support/cases.ts';
import { chatWorld } from '../support/chat/chat-world.ts';

// Facts that were recorded under several names, before the names were declared to mean one thing.
// The model beside the memory is its list of facts without the names, renamed and grouped.

const NAMES = ['NYC', 'New York City', 'Bonn', 'ida', 'Ida N.'];
const DECLARED = { 'lives in': ['home city'], likes: ['is fond of'] };
const predicates = new Aliases(
  Object.entries(DECLARED).flatMap(([name, aliases]) => aliases.map((alias) => ({ alias, name }))),
);
const pairs = fc.array(
  fc.record({ alias: fc.constantFrom(...NAMES), name: fc.constantFrom(...NAMES) }),
  {
    minLength: 1,
    maxLength: 4,
  },
);
const statement = fc.record({
  subject: fc.constantFrom(...NAMES),
  predicate: fc.constantFrom('lives in', 'home city', 'likes', 'is fond of'),
  object: fc.constantFrom(...NAMES),
  day: fc.integer({ min: 1, max: 6 }),
});
const PREDICATES = Object.fromEntries(
  ['lives in', 'home city', 'likes', 'is fond of'].map((name) => [
    name,
    {
      cardinality: name.endsWith('s') || name.startsWith('is') ? 'multi-valued' : 'single-valued',
      strategy: 'lww',
    },
  ]),
) as never;

interface Told {
  /** Without names that mean one thing. */
  readonly plain: ChatMemory;
  readonly named: ChatMemory;
  readonly meaningOf: (fact: Pick<ChatFact, 'subject' | 'predicate' | 'object'>) => string;
}

async function told(
  pairs: readonly AliasPair[],
  said: readonly (typeof statement extends fc.Arbitrary<infer S> ? S : never)[],
): Promise<Told> {
  const { chat, clock } = await chatWorld({ domain: { predicates: PREDICATES } });
  const plain = chat();
  for (const [n, { day, ...fact }] of said.entries())
    await plain.remember([{ role: 'user', content: `message ${n}`, at: '2026-01-01' }], {
      facts: [{ ...fact, message: 1, from: `2026-01-0${day}` }],
    });
  clock.forward(1_000);
  const declared: Record<string, string[]> = {};
  for (const { alias, name } of pairs) declared[name] = [...(declared[name] ?? []), alias];
  const names = new Aliases(pairs);
  return {
    plain,
    named: chat({ aliases: { names: declared, predicates: DECLARED } }),
    meaningOf: ({ subject, predicate, object }) =>
      [names.nameOf(subject), predicates.nameOf(predicate), names.nameOf(object)].join(' | '),
  };
}

async function pagesOf(
  memory: ChatMemory,
  question: string | undefined,
  options: RecallOptions,
): Promise<ChatFact[]> {
  const found: ChatFact[] = [];
  for (let cursor: string | undefined; ; ) {
    const { facts, next } = await memory.recall(question, {
      ...options,
      ...(cursor !== undefined && { cursor }),
    });
    found.push(...facts);
    if (next === undefined) return found;
    expect(facts).toHaveLength(options.limit!);
    cursor = next;
  }
}

const stated = ({ subject, predicate, object }: ChatFact): string =>
  [subject, predicate, object].join(' | ');

const sourcesOf = (facts: readonly ChatFact[]): string[] =>
  [
    ...new Set(facts.flatMap(({ sources }) => sources.map(({ entry, n }) => `${entry} ${n}`))),
  ].sort();

const page = fc.record({
  limit: fc.integer({ min: 1, max: 3 }),
  question: fc.option(fc.constantFrom('NYC', 'ida', 'New York City Bonn'), { nil: undefined }),
});

test('pages have a fact of several names once, with all of its statements', async () => {
  await fc.assert(
    fc.asyncProperty(
      pairs,
      fc.array(statement, { minLength: 1, maxLength: 8 }),
      page,
      async (pairs, said, { limit, question }) => {
        const { plain, named, meaningOf } = await told(pairs, said);
        const at = { at: '2026-01-07' };
        const rows = (await plain.recall(undefined, { ...at, limit: 200 })).facts;
        const found = await pagesOf(named, question, { ...at, limit });
        const whole = (await named.recall(question, { ...at, limit: 200 })).facts;
        expect(found.map(({ id }) => id).sort()).toEqual(whole.map(({ id }) => id).sort());
        const meant = Map.groupBy(rows, meaningOf);
        expect(new Set(found.map(meaningOf)).size).toBe(found.length);
        if (question === undefined)
          expect(found.map(meaningOf).sort()).toEqual([...meant.keys()].sort());
        for (const fact of found)
          expect(sourcesOf([fact])).toEqual(sourcesOf(meant.get(meaningOf(fact))!));
      },
    ),
    { numRuns: cases(300) },
  );
});

test('a repair withdraws a fact under all of its names, and no other', async () => {
  await fc.assert(
    fc.asyncProperty(
      pairs,
      fc.array(statement, { minLength: 1, maxLength: 8 }),
      fc.nat(),
      fc.boolean(),
      async (pairs, said, chosen, isWhole) => {
        const { plain, named, meaningOf } = await told(pairs, said);
        const at = { at: '2026-01-07', limit: 200 };
        const { facts } = await named.recall(undefined, at);
        const fact = facts[chosen % facts.length]!;
        const { ruling } = await named.repair(
          isWhole ? fact : { id: fact.id.slice(0, 12), space: fact.space },
          {
            apply: true,
          },
        );
        expect(ruling?.ruling).toBe('committed');
        // The model is a memory without the statements of the fact: facts that they displaced hold.
        const others = said.filter((each) => meaningOf(each) !== meaningOf(fact));
        const expected = await told(pairs, others);
        const statedIn = async (memory: ChatMemory): Promise<string[]> =>
          (await memory.recall(undefined, at)).facts.map(stated).sort();
        expect(await statedIn(plain)).toEqual(await statedIn(expected.plain));
        expect((await named.repair(fact)).withdrawn).toEqual([]);
      },
    ),
    { numRuns: cases(300) },
  );
});
