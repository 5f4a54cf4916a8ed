import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  applyPlan,
  asOf,
  declarePredicate,
  type FactRow,
  mergeProvenance,
  OPEN_END,
  OPEN_START,
  type Plan,
  planAssert,
  planWithdraw,
  type StatedClaim,
  statedProvenance,
  usersOf,
} from '#memory';
import { cases } from '../support/cases.ts';

/**
 * Statements of several authors about one thing, against a model with the believed statements and
 * the lost ones. A statement of an assistant never takes the place of a user's, and a named user's
 * only that of the same user. A withdrawal makes the lost statements again, in their order, after
 * the remaining ones.
 */

const KEY = new Uint8Array(32).fill(7);
const partition = { space: 's', subject: 'ida', predicate: 'city' };
const valid = { from: OPEN_START, to: OPEN_END };
const day = (n: number): string => `2026-01-${String(n + 1).padStart(2, '0')}T00:00:00.000000Z`;
const entry = (n: number): string => String(n).padStart(64, '0');
const tokenOf = (n: number): string => `w:${entry(n)}#0`;

const AUTHORS = {
  ida: { role: 'user', name: 'ida' },
  eve: { role: 'user', name: 'eve' },
  assistant: { role: 'assistant' },
  anybody: { role: 'user' },
  all: { role: 'user', name: 'max', shared: true },
  unknown: undefined,
} as const;

const step = fc.record({
  verb: fc.constantFrom(
    'assert' as const,
    'assert' as const,
    'assert' as const,
    'withdraw' as const,
  ),
  by: fc.constantFrom(...(Object.keys(AUTHORS) as (keyof typeof AUTHORS)[])),
  object: fc.constantFrom('Bonn', 'Oslo', 'Rome'),
  source: fc.constantFrom('m1', 'm2', 'm3', 'm4', 'm5'),
});

/** Statements that hold together, since the first of them. */
interface Held {
  readonly object: string;
  readonly of: readonly number[];
}

const says = (by: keyof typeof AUTHORS, object: string, source: string) => ({
  ...{ verb: 'assert' as const, by, object, source },
});
/** An assistant agrees with a user who could not replace the word of another. */
const AGREED = [
  ...[says('ida', 'Oslo', 'm1'), says('ida', 'Oslo', 'm5'), says('eve', 'Rome', 'm4')],
  ...[says('assistant', 'Rome', 'm3'), { ...says('ida', 'Bonn', 'm1'), verb: 'withdraw' as const }],
];

test('a statement takes the place only of what its author may replace', () => {
  const seen = { contradicted: 0, back: 0, changed: 0 };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const declaration = declarePredicate({ cardinality: 'single-valued', strategy: 'lww-valid' });
      const stated = new Map<string, StatedClaim>();
      const gone = new Set<number>();
      let rows: readonly FactRow[] = [];
      let believed: Held | undefined;
      let lost: Held[] = [];
      const isNamed = (n: number): boolean => ['ida', 'eve'].includes(steps[n]!.by);
      const isOfUser = (n: number): boolean => ['ida', 'eve', 'anybody'].includes(steps[n]!.by);
      const isOfAssistant = (n: number): boolean => steps[n]!.by === 'assistant';
      /** The last statement; one of an assistant only if there is no other. */
      const rankOf = ({ of }: Held): number =>
        Math.max(...(of.every(isOfAssistant) ? of : of.filter((n) => !isOfAssistant(n))));
      const mayReplace = ({ of }: Held, standing: Held): boolean => {
        const users = of.filter(isOfUser).map((n) => steps[n]!.by);
        if (of.every(isOfAssistant) !== standing.of.every(isOfAssistant))
          return standing.of.every(isOfAssistant);
        if (rankOf({ object: '', of }) < rankOf(standing)) return false;
        return (
          users.length === 0 ||
          standing.of.filter(isNamed).every((n) => users.includes(steps[n]!.by))
        );
      };
      const say = (held: Held): void => {
        if (held.object === believed?.object)
          believed = { ...believed, of: [...believed.of, ...held.of] };
        else if (believed === undefined || mayReplace(held, believed)) {
          if (believed !== undefined) lost.push(believed);
          if (believed !== undefined) seen.changed++;
          believed = held;
        } else {
          seen.contradicted++;
          lost.push(held);
        }
      };
      for (const [n, { verb, by, object, source }] of steps.entries()) {
        const open = rows.filter(
          (row) => row.row_kind === 'current' && row.system_time_end === OPEN_END,
        );
        const writing = {
          partition,
          declaration,
          latest: null,
          at: day(n),
          seq: n,
          merge: mergeProvenance,
          open,
        };
        let plan: unknown;
        if (verb === 'withdraw') {
          plan = planWithdraw(writing, { sources: [source], claims: stated, history: rows });
          for (const [token, claim] of stated)
            if (claim.source === source) gone.add(Number(token.slice(2, 66)));
          const without = (held: Held): Held[] => {
            const of = held.of.filter((each) => !gone.has(each));
            return of.length === 0 ? [] : [{ ...held, of }];
          };
          if (believed?.of.some((each) => gone.has(each))) {
            const back = lost.flatMap(without).sort((a, b) => rankOf(a) - rankOf(b));
            const again = [...without(believed), ...back];
            if (again.length > 0 && without(believed).length === 0) seen.back++;
            [believed, lost] = [undefined, []];
            for (const held of again) say(held);
          }
        } else {
          const author = AUTHORS[by];
          const provenance = statedProvenance(0, KEY, { space: 's', ...(author && { author }) });
          const asserted = { claim: `c${n}`, object, confidence: 1 };
          stated.set(tokenOf(n), {
            ...{ ...asserted, source, assertedSeq: n, assertedFrom: OPEN_START },
            isOfAssistant: by === 'assistant',
          });
          plan = planAssert(writing, [{ ...asserted, valid, provenance }]);
          say({ object, of: [n] });
        }
        const { insert, ...rest } = plan as Plan;
        const placed = insert.map((row) => ({
          ...{ ...row, entry_id: entry(n) },
          provenance_id: row.provenance_id.replaceAll('w:@0', tokenOf(n)),
        }));
        rows = applyPlan(rows, { ...rest, insert: placed });
        const now = asOf(rows, { valid: day(0), system: day(25) });
        expect(
          now.map((row) => row.object),
          JSON.stringify(steps),
        ).toEqual(believed === undefined ? [] : [believed.object]);
      }
    }),
    { numRuns: cases(4_000), examples: [[AGREED]] },
  );
  expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
});

test('a name of a user is not part of a provenance', () => {
  const author = { role: 'user', name: 'ida' } as const;
  const [here, there] = ['s', 't'].map((space) => statedProvenance(0, KEY, { space, author }));
  expect(here).toMatch(/^t:author:user:[0-9a-f]{32}\*w:@0$/);
  expect(here).not.toBe(there);
  expect(usersOf({ provenance_id: here! })).toHaveLength(1);
});
