import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChatFact, ChatMemory, WithdrawnStatement } from '#chat';
import { type CommitPayload, type Hash, type LedgerStore, readRow, ValueReader } from '#ledger';
import { checkMemory } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { chatWorld } from '../support/chat/chat-world.ts';

// A repair against its list of withdrawn statements: afterwards the memory is as if these were
// never made, and all others were. So what they had displaced holds. An end is an exception: it
// concerns the facts that stood when it was stated, and no fact that comes back later. Where one is
// left, only stated facts hold.

const statement = fc.record({
  subject: fc.constantFrom('ida', 'otto'),
  predicate: fc.constantFrom('likes', 'note', 'lives in'),
  object: fc.constantFrom('a', 'b', 'c'),
  from: fc.integer({ min: 1, max: 4 }),
  days: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
});
/** A message that may repeat with other facts, and the fact that it was concluded from. */
const step = fc.record({
  message: fc.nat({ max: 3 }),
  facts: fc.array(statement, { minLength: 1, maxLength: 3 }),
  on: fc.option(fc.nat({ max: 20 }), { nil: undefined, freq: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** The end of the last message displaced a statement of another. The repair lists it too. */
const endedByOne: Step[] = [
  [0, 'a', 1, undefined],
  [0, 'c', 3, 1],
  [1, 'c', 3, undefined],
  [2, 'c', 1, 3],
].map(([message, object, from, days]) => {
  const fact = { subject: 'otto', predicate: 'likes', object, from, days };
  return { message, facts: [fact], on: undefined } as Step;
});

/** Half of the lists have no ends. */
const someSteps = fc
  .tuple(fc.array(step, { minLength: 1, maxLength: 6 }), fc.boolean())
  .map(([steps, hasEnds]) =>
    steps.map((each): Step => {
      const facts = each.facts.map((fact) => ({ ...fact, days: hasEnds ? fact.days : undefined }));
      return { ...each, facts };
    }),
  );

const day = (n: number): string => `2026-01-${String(n).padStart(2, '0')}`;

async function everything(memory: ChatMemory) {
  return memory.recall(undefined, { at: 'any', limit: 200 });
}

/** Remembers the steps. Returns the entries of each, and the claim that it was concluded from. */
async function remembered(memory: ChatMemory, forward: () => void, steps: readonly Step[]) {
  const done: { readonly entries: readonly string[]; readonly on: string | undefined }[] = [];
  for (const { message, facts, on } of steps) {
    const known = await everything(memory);
    const base = on === undefined ? undefined : known.facts[on % Math.max(known.facts.length, 1)];
    const value = known.observations[0]!.value as object;
    const rows = base && [[base.row.fact_id, base.row.system_time_start]];
    const { entries } = await memory.remember(
      [{ role: 'user', content: `message ${message}`, at: day(1) }],
      {
        facts: facts.map(({ from, days, ...fact }) => ({
          ...fact,
          message: 1,
          from: day(from),
          ...(days !== undefined && { to: day(from + days) }),
        })),
        ...(rows !== undefined && {
          basedOn: [{ ...known.observations[0]!, value: { ...value, rows } }],
        }),
      },
    );
    done.push({ entries, on: base?.row.lineage });
    forward();
  }
  return done;
}

/** A day, since periods that touch may be one fact or two. */
function daysOf({
  subject,
  predicate,
  object,
  valid_from,
  valid_to,
}: Pick<ChatFact, 'subject' | 'predicate' | 'object' | 'valid_from' | 'valid_to'>): string[] {
  return Array.from({ length: 9 }, (_, n) => `${day(n + 1)}T12`)
    .filter((noon) => valid_from < noon && noon < valid_to)
    .map((noon) => [subject, predicate, object, noon].join(' | '));
}

const heldBy = (facts: readonly ChatFact[]): string[] => [...new Set(facts.flatMap(daysOf))].sort();

const keyOf = ({
  subject,
  predicate,
}: {
  readonly subject: string;
  readonly predicate: string;
}): string => `${subject} ${predicate}`;

/** The claims of statements: a repeated message states them again, as the same claims. */
async function claimsOf(
  withdrawn: readonly WithdrawnStatement[],
  done: Awaited<ReturnType<typeof remembered>>,
  steps: readonly Step[],
  store: LedgerStore,
): Promise<ReadonlySet<string>> {
  const claims = new Set<string>();
  for (const { entry, n } of withdrawn) {
    const row = (await store.resolve(entry as Hash))!;
    const args = await new ValueReader(store).read(
      row,
      (readRow(row).payload as CommitPayload).action.args,
    );
    const { sayings } = (args as { readonly value: unknown }).value as {
      readonly sayings: readonly Said[];
    };
    const { subject, predicate, object, valid } = sayings[n]!;
    const { message } = steps[done.findIndex(({ entries }) => entries.includes(entry))]!;
    claims.add(JSON.stringify([message, subject, predicate, object, valid.from, valid.to ?? null]));
  }
  return claims;
}

type Said = Step['facts'][number] & {
  readonly valid: { readonly from: string; readonly to?: string };
};

/** The steps without the statements of the claims. */
function stepsWithout(steps: readonly Step[], claims: ReadonlySet<string>): Step[] {
  const at = (n: number): string => `${day(n)}T00:00:00.000000Z`;
  return steps.map(({ message, facts }) => ({
    message,
    on: undefined,
    facts: facts.filter(({ subject, predicate, object, from, days }) => {
      const to = days === undefined ? null : at(from + days);
      return !claims.has(JSON.stringify([message, subject, predicate, object, at(from), to]));
    }),
  }));
}

function statedWithout(
  steps: readonly Step[],
  claims: ReadonlySet<string>,
): Step['facts'][number][] {
  return stepsWithout(steps, claims).flatMap(({ facts }) => facts);
}

function daysStated({
  subject,
  predicate,
  object,
  from,
  days = 9,
}: Step['facts'][number]): string[] {
  return daysOf({
    subject,
    predicate,
    object,
    valid_from: day(from),
    valid_to: day(Math.min(from + days, 10)),
  });
}

/** The facts of a memory in which no message states the claims. */
async function withoutClaims(
  steps: readonly Step[],
  claims: ReadonlySet<string>,
): Promise<readonly ChatFact[]> {
  const { chat, clock } = await chatWorld();
  const memory = chat();
  await remembered(memory, () => clock.forward(1_000), stepsWithout(steps, claims));
  return (await everything(memory)).facts;
}

test('a repair withdraws the statements that it lists, and no others', async () => {
  const seen = { withdrawn: 0, restored: 0, conclusions: 0 };
  await fc.assert(
    fc.asyncProperty(someSteps, fc.nat(), async (steps, chosen) => {
      const { chat, clock, store } = await chatWorld();
      const memory = chat();
      const done = await remembered(memory, () => clock.forward(1_000), steps);
      const { facts: before } = await everything(memory);
      const fact = before[chosen % before.length]!;
      const { ruling: _, ...plan } = await memory.repair(fact);
      const { ruling, ...applied } = await memory.repair(
        { id: fact.id, space: fact.space },
        { apply: true },
      );
      expect(ruling?.ruling, JSON.stringify(ruling)).toBe('committed');
      expect(applied.withdrawn).toEqual(expect.arrayContaining([...plan.withdrawn]));
      const { facts: after } = await everything(memory);
      const claims = await claimsOf(applied.withdrawn, done, steps, store);
      const never = await withoutClaims(steps, claims);
      for (const key of new Set([...before, ...after, ...never].map(keyOf))) {
        const within = (facts: readonly ChatFact[]): string[] =>
          heldBy(facts.filter((each) => keyOf(each) === key));
        const stated = statedWithout(steps, claims).filter((each) => keyOf(each) === key);
        if (stated.some(({ days }) => days !== undefined))
          expect(stated.flatMap(daysStated)).toEqual(expect.arrayContaining(within(after)));
        else expect(within(after)).toEqual(within(never));
      }
      for (const { object, provenance_id } of applied.restored) {
        seen.restored += 1;
        expect(after.map(({ row }) => `${row.object} ${row.provenance_id}`)).toContain(
          `${object} ${provenance_id}`,
        );
      }
      checkConclusions(done, fact, after);
      expect(plan.unresolved).toEqual([]);
      expect((await checkMemory(store)).differences).toEqual([]);
      seen.withdrawn += plan.withdrawn.length;
      seen.conclusions += plan.withdrawn.filter(({ as }) => as === 'conclusion').length;
    }),
    { numRuns: cases(200), examples: [[endedByOne, 2]] },
  );
  if (hasUsualCases())
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
});

/** No statement that was concluded from the fact stands behind another. */
function checkConclusions(
  done: readonly { readonly entries: readonly string[]; readonly on: string | undefined }[],
  fact: ChatFact,
  after: readonly ChatFact[],
): void {
  const concluded = done.flatMap(({ on, entries }) => (on === fact.row.lineage ? entries : []));
  for (const { sources } of after)
    for (const { entry } of sources) expect(concluded).not.toContain(entry);
}
