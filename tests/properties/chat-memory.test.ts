import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChatFact, ChatMemory, GivenFact } from '#chat';
import { Aliases, type AliasPair } from '../../packages/agents/src/chat/aliases.ts';
import { cases } from '../support/cases.ts';
import { chatWorld } from '../support/chat/chat-world.ts';

// The laws of a chat memory. The model beside it is the memory without aliases, told the names of
// the classes instead of the wordings.

const NAMES = ['NYC', 'New York City', 'the Apple', 'Bonn', 'ida', 'Ida N.', 'otto'];
const PREDICATES = ['lives in', 'home city', 'likes', 'is fond of'];
const DECLARED = ['lives in', 'likes'];
const pairs = fc.array(
  fc.record({ alias: fc.constantFrom(...NAMES), name: fc.constantFrom(...NAMES) }),
  {
    maxLength: 5,
  },
);
const predicatePairs = fc.subarray<AliasPair>([
  { alias: 'home city', name: 'lives in' },
  { alias: 'is fond of', name: 'likes' },
]);
const statement = fc.record({
  subject: fc.constantFrom(...NAMES),
  predicate: fc.constantFrom(...PREDICATES),
  object: fc.constantFrom(...NAMES),
  day: fc.integer({ min: 1, max: 9 }),
  confidence: fc.constantFrom(0.5, 1),
});
type Statement = typeof statement extends fc.Arbitrary<infer S> ? S : never;

const given = ({ day, ...fact }: Statement): GivenFact => ({
  ...fact,
  message: 1,
  from: `2026-01-0${day}`,
});

/** Each fact without its ids, sources and wording. */
function believed(facts: readonly ChatFact[]): string[] {
  return facts
    .map(({ subject, predicate, object, valid_from, valid_to, confidence }) =>
      [subject, predicate, object, valid_from, valid_to, confidence].join(' | '),
    )
    .sort();
}

const all = async (memory: ChatMemory): Promise<string[]> =>
  believed((await memory.recall(undefined, { at: 'any', limit: 200 })).facts);

async function remembered(memory: ChatMemory, statements: readonly Statement[]): Promise<string[]> {
  const outcomes: string[] = [];
  for (const [n, each] of statements.entries()) {
    const done = await memory.remember(
      [{ role: 'user', content: `message ${n}`, at: '2026-01-01' }],
      {
        facts: [given(each)],
      },
    );
    outcomes.push(
      ['added', 'changed', 'duplicates', 'contradicted', 'withdrawn', 'skipped']
        .filter((name) => done[name as 'added'].length > 0)
        .join(),
    );
  }
  return outcomes;
}

test('reworded statements make the memory of the statements in one wording', async () => {
  await fc.assert(
    fc.asyncProperty(
      pairs,
      predicatePairs,
      fc.array(statement, { maxLength: 8 }),
      async (pairs, predicatePairs, said) => {
        const predicates = new Aliases(predicatePairs);
        const { chat } = await chatWorld();
        for (const pair of [...pairs, ...predicatePairs]) {
          const of = predicatePairs.includes(pair) ? 'predicate' : 'name';
          if (pair.alias !== pair.name) await chat().declareAlias({ ...pair, of });
        }
        // The ledger has one name for each alias: the last one that was declared.
        const last = new Aliases([
          ...new Map(
            pairs.filter((p) => p.alias !== p.name).map((pair) => [pair.alias, pair]),
          ).values(),
        ]);
        const plain = said.map((each) => ({
          ...each,
          subject: last.nameOf(each.subject),
          object: last.nameOf(each.object),
          predicate: predicates.nameOf(each.predicate),
        }));
        const { chat: model } = await chatWorld();
        expect(await remembered(chat(), said)).toEqual(await remembered(model(), plain));
        expect(await all(chat())).toEqual(await all(model()));
      },
    ),
    { numRuns: cases(300) },
  );
});

test('an alias that is declared later makes the memory of one declared first', async () => {
  await fc.assert(
    fc.asyncProperty(
      pairs,
      fc.array(statement, { maxLength: 5 }),
      fc.array(statement, { maxLength: 4 }),
      fc.nat(),
      async (pairs, before, after, turn) => {
        const aliases = new Aliases(pairs);
        const declared: Record<string, string[]> = {};
        for (const { alias, name } of pairs) declared[name] = [...(declared[name] ?? []), alias];
        const predicates = { 'lives in': ['home city'], likes: ['is fond of'] };
        const ofPredicate = new Aliases([
          { alias: 'home city', name: 'lives in' },
          { alias: 'is fond of', name: 'likes' },
        ]);
        // Before the declaration each thing has one name: any of its class.
        const wording = (text: string): string => {
          const names = aliases.namesOf(text);
          return names[turn % names.length]!;
        };
        const early = before.map((each) => ({
          ...each,
          subject: wording(each.subject),
          object: wording(each.object),
          predicate: ofPredicate.nameOf(each.predicate),
        }));
        const said = [...early, ...after];
        const late = await chatWorld();
        const first = await chatWorld();
        await remembered(late.chat(), early);
        const options = { aliases: { names: declared, predicates } };
        const twice = await remembered(late.chat(options), said);
        await remembered(first.chat(options), early);
        expect(twice).toEqual(await remembered(first.chat(options), said));
        expect(await all(late.chat(options))).toEqual(await all(first.chat(options)));
      },
    ),
    { numRuns: cases(300) },
  );
});

test('a repeated statement of another wording adds nothing', async () => {
  await fc.assert(
    fc.asyncProperty(pairs, statement, fc.nat(), async (pairs, said, turn) => {
      const { chat } = await chatWorld();
      const declared: Record<string, string[]> = {};
      for (const { alias, name } of pairs) declared[name] = [...(declared[name] ?? []), alias];
      const memory = chat({
        aliases: {
          names: declared,
          predicates: { 'lives in': ['home city'], likes: ['is fond of'] },
        },
      });
      const aliases = new Aliases(pairs);
      const pick = (names: readonly string[]): string => names[turn % names.length]!;
      const reworded = {
        ...said,
        subject: pick(aliases.namesOf(said.subject)),
        object: pick(aliases.namesOf(said.object)),
      };
      const [first] = await remembered(memory, [said]);
      expect(first).toBe('added');
      const done = await memory.remember([{ role: 'user', content: 'again', at: '2026-01-01' }], {
        facts: [given(reworded)],
      });
      expect(done).toMatchObject({
        added: [],
        changed: [],
        contradicted: [],
        skipped: [],
        duplicates: [{}],
      });
      expect(await all(memory)).toHaveLength(1);
    }),
    { numRuns: cases(300) },
  );
});

const WORDS = ['tea', 'green', 'black', 'cup', 'pot', 'milk'];

test.each([undefined, 'tea green milk'])(
  'the pages of %s have each fact of their time once, while others write',
  async (question) => {
    const objects = fc.uniqueArray(
      fc
        .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 })
        .map((words) => words.join(' ')),
      { minLength: 1, maxLength: 16 },
    );
    await fc.assert(
      fc.asyncProperty(
        objects,
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        async (known, limit, isTwo) => {
          const { chat, clock } = await chatWorld();
          const memory = chat();
          const spaces = isTwo ? ['a', 'b'] : ['a'];
          const say = (n: number, object: string) =>
            memory.remember([{ role: 'user', content: `message ${n}`, at: '2026-01-01' }], {
              space: spaces[n % spaces.length]!,
              facts: [{ message: 1, subject: `s${n % 3}`, predicate: 'note', object }],
            });
          for (const [n, object] of known.entries()) await say(n, object);
          clock.forward(1_000);
          const wanted = known.filter(
            (text) =>
              question === undefined ||
              question.split(' ').some((word) => text.split(' ').includes(word)),
          );
          const found: string[] = [];
          const ids = new Set<string>();
          for (let page = 0, cursor: string | undefined; ; page++) {
            const { facts, next } = await memory.recall(question, {
              spaces,
              limit,
              ...(cursor !== undefined && { cursor }),
            });
            expect(facts.length).toBeLessThanOrEqual(limit);
            for (const fact of facts) {
              found.push(fact.object);
              ids.add(`${fact.space} ${fact.id}`);
            }
            if (next === undefined) break;
            expect(facts).toHaveLength(limit);
            cursor = next;
            // Another writer, whose facts are later than the first page.
            clock.forward(1_000);
            await say(100 + page, `tea green new ${page}`);
            if (page === 0) await memory.repair(facts[0]!, { apply: true });
          }
          expect(found.sort()).toEqual(wanted.sort());
          expect(ids.size).toBe(found.length);
        },
      ),
      { numRuns: cases(200) },
    );
  },
);

test('a repair leaves the memory as without the fact and its conclusions', async () => {
  // Each step states a fact, and may rest on one of the earlier facts.
  const steps = fc.array(fc.record({ on: fc.option(fc.nat(7), { nil: undefined }) }), {
    minLength: 1,
    maxLength: 7,
  });
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(), async (steps, chosen) => {
      const { chat, clock } = await chatWorld();
      const memory = chat();
      const restsOn: (number | undefined)[] = [];
      for (const [n, { on }] of steps.entries()) {
        const base = on === undefined || n === 0 ? undefined : on % n;
        restsOn.push(base);
        const of = (object: string) =>
          memory
            .recall(undefined, { filter: { predicates: ['note'] }, limit: 200 })
            .then(({ facts, observations }) => ({
              row: facts.find((fact) => fact.object === object)!.row,
              observations,
            }));
        const basedOn =
          base === undefined
            ? []
            : await of(`fact ${base}`).then(({ row, observations: [observation] }) => [
                {
                  ...observation!,
                  value: {
                    ...(observation!.value as object),
                    rows: [[row.fact_id, row.system_time_start]],
                  },
                },
              ]);
        await memory.remember([{ role: 'user', content: `message ${n}`, at: '2026-01-01' }], {
          facts: [{ message: 1, subject: `s${n % 2}`, predicate: 'note', object: `fact ${n}` }],
          basedOn,
        });
        clock.forward(1_000);
      }
      const root = chosen % steps.length;
      const falls = (n: number): boolean =>
        n === root || (restsOn[n] !== undefined && falls(restsOn[n]!));
      const { facts } = await memory.recall(undefined, { limit: 200 });
      const { ruling } = await memory.repair(
        facts.find(({ object }) => object === `fact ${root}`)!,
        { apply: true },
      );
      expect(ruling?.ruling).toBe('committed');
      const left = (await memory.recall(undefined, { limit: 200 })).facts
        .map(({ object }) => object)
        .sort();
      expect(left).toEqual(
        steps
          .map((_, n) => n)
          .filter((n) => !falls(n))
          .map((n) => `fact ${n}`)
          .sort(),
      );
      for (const n of steps.keys()) {
        const again = await memory.remember(
          [{ role: 'user', content: `message ${n}`, at: '2026-01-01' }],
          {
            facts: [{ message: 1, subject: `s${n % 2}`, predicate: 'note', object: `fact ${n}` }],
          },
        );
        const [fallen, kept] = [again.withdrawn, again.duplicates].map((list) => list.length);
        expect([fallen, kept, again.added.length]).toEqual(falls(n) ? [1, 0, 0] : [0, 1, 0]);
      }
      expect((await memory.recall(undefined, { limit: 200 })).facts).toHaveLength(left.length);
    }),
    { numRuns: cases(200) },
  );
});

test('without an alias no name is changed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(statement, { maxLength: 4 }), async (said) => {
      const { chat } = await chatWorld();
      const outcomes = await remembered(chat(), said);
      expect(outcomes.map((outcome) => outcome === 'skipped')).toEqual(
        said.map(({ predicate }) => !DECLARED.includes(predicate)),
      );
    }),
    { numRuns: cases(100) },
  );
});
