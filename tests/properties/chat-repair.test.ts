import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChatFact, ChatMemory, Repair, WithdrawnStatement } from '#chat';
import { checkMemory } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { chatWorld } from '../support/chat/chat-world.ts';

// A repair against its list of withdrawn statements, read literally: a fact loses these statements
// and no others, and falls with its last one. Where whole sources are withdrawn, the memory is as
// if their statements were never made: what these had displaced holds.

const statement = fc.record({
  subject: fc.constantFrom('ida', 'otto'),
  predicate: fc.constantFrom('likes', 'note', 'lives in'),
  object: fc.constantFrom('a', 'b', 'c'),
  from: fc.integer({ min: 1, max: 4 }),
  days: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
});
/** A message, which may repeat with other facts, and the fact that it was concluded from. */
const step = fc.record({
  message: fc.nat({ max: 3 }),
  facts: fc.array(statement, { minLength: 1, maxLength: 3 }),
  on: fc.option(fc.nat({ max: 20 }), { nil: undefined, freq: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const day = (n: number): string => `2026-01-0${n}`;

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
    const { entries } = await memory.remember([{ role: 'user', content: `message ${message}`, at: day(1) }], {
      facts: facts.map(({ from, days, ...fact }) => ({
        ...fact,
        message: 1,
        from: day(from),
        ...(days !== undefined && { to: day(from + days) }),
      })),
      ...(rows !== undefined && { basedOn: [{ ...known.observations[0]!, value: { ...value, rows } }] }),
    });
    done.push({ entries, on: base?.row.lineage });
    forward();
  }
  return done;
}

/** A day, since periods that touch may be one fact or two. */
function daysOf({ subject, predicate, object, valid_from, valid_to }: ChatFact): string[] {
  return Array.from({ length: 9 }, (_, n) => `${day(n + 1)}T12`)
    .filter((noon) => valid_from < noon && noon < valid_to)
    .map((noon) => [subject, predicate, object, noon].join(' | '));
}

const heldBy = (facts: readonly ChatFact[]): string[] => [...new Set(facts.flatMap(daysOf))].sort();

/** The facts that have a statement besides those of the list. */
function left(before: readonly ChatFact[], withdrawn: readonly WithdrawnStatement[]): ChatFact[] {
  const listed = new Set(withdrawn.map(statementKey));
  return before.filter(({ sources }) => !sources.every((source) => listed.has(statementKey(source))));
}

const keyOf = ({ subject, predicate }: { readonly subject: string; readonly predicate: string }): string =>
  `${subject} ${predicate}`;

/** The sources that lost all of their statements about a subject and predicate, and the others. */
function sourcesIn(key: string, before: readonly ChatFact[], withdrawn: readonly WithdrawnStatement[]) {
  const listed = new Set(withdrawn.map(statementKey));
  const stated = before.filter((fact) => keyOf(fact) === key).flatMap(({ sources }) => sources);
  const isWhole = ({ source }: WithdrawnStatement): boolean =>
    stated.every((one) => one.source !== source || listed.has(statementKey(one)));
  const own = withdrawn.filter((one) => keyOf(one) === key);
  return { whole: own.filter(isWhole), parts: own.filter((one) => !isWhole(one)) };
}

function statementKey({ entry, n }: { readonly entry: string; readonly n: number }): string {
  return `${entry} ${n}`;
}

/** The facts of a memory in which messages stated nothing about a subject and predicate. */
async function withoutMessages(
  steps: readonly Step[],
  key: string,
  messages: ReadonlySet<number>,
): Promise<readonly ChatFact[]> {
  const { chat, clock } = await chatWorld();
  const memory = chat();
  const others = steps.map(({ message, facts }) => ({
    message,
    on: undefined,
    facts: facts.filter((fact) => keyOf(fact) !== key || !messages.has(message)),
  }));
  await remembered(memory, () => clock.forward(1_000), others);
  return (await everything(memory)).facts;
}

test('a repair withdraws the statements that it lists, and no others', async () => {
  const seen = { withdrawn: 0, unresolved: 0, conclusions: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), fc.nat(), async (steps, chosen) => {
      const { chat, clock, store } = await chatWorld();
      const memory = chat();
      const done = await remembered(memory, () => clock.forward(1_000), steps);
      const { facts: before } = await everything(memory);
      const fact = before[chosen % before.length]!;
      const { ruling: _, ...plan } = await memory.repair(fact);
      const { ruling, ...applied } = await memory.repair({ id: fact.id, space: fact.space }, { apply: true });
      expect([ruling?.ruling, applied.withdrawn], JSON.stringify(ruling)).toEqual(['committed', plan.withdrawn]);
      const { facts: after } = await everything(memory);
      const others = left(
        before.filter(({ row }) => row.lineage !== fact.row.lineage),
        plan.withdrawn,
      );
      for (const key of new Set([...before, ...after].map(keyOf))) {
        const within = (facts: readonly ChatFact[]): string[] => heldBy(facts.filter((each) => keyOf(each) === key));
        const { whole, parts } = sourcesIn(key, before, plan.withdrawn);
        const messageOf = ({ entry }: WithdrawnStatement): number =>
          steps[done.findIndex(({ entries }) => entries.includes(entry))]!.message;
        const never = (await withoutMessages(steps, key, new Set(whole.map(messageOf)))).filter(
          (each) => keyOf(each) === key,
        );
        if (parts.length === 0) expect(within(after)).toEqual(heldBy(never));
        else {
          expect(within(after)).toEqual(expect.arrayContaining(within(others)));
          if (whole.length === 0) expect(within(after)).toEqual(within(others));
          else expect([...within(others), ...heldBy(never)]).toEqual(expect.arrayContaining(within(after)));
        }
      }
      checkConclusions(done, fact, after, plan);
      // Without a repeated message, no statement stands in the way of another.
      if (new Set(steps.map(({ message }) => message)).size === steps.length) expect(plan.unresolved).toEqual([]);
      expect((await checkMemory(store)).differences).toEqual([]);
      seen.withdrawn += plan.withdrawn.length;
      seen.unresolved += plan.unresolved.length;
      seen.conclusions += plan.withdrawn.filter(({ as }) => as === 'conclusion').length;
    }),
    { numRuns: cases(200) },
  );
  if (hasUsualCases()) expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
});

/** A statement that was concluded from the fact is gone, or its commit is listed as unresolved. */
function checkConclusions(
  done: readonly { readonly entries: readonly string[]; readonly on: string | undefined }[],
  fact: ChatFact,
  after: readonly ChatFact[],
  { unresolved }: Pick<Repair, 'unresolved'>,
): void {
  const listed = new Set<string>(unresolved.map(({ id }) => id));
  const concluded = new Set(done.flatMap(({ on, entries }) => (on === fact.row.lineage ? entries : [])));
  for (const { sources } of after)
    for (const { entry } of sources) if (concluded.has(entry)) expect([...listed]).toContain(entry);
}
