import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contains, readScope } from '#authority';
import { cases } from '../../../../tests/support/cases.ts';
import { ClaimSet } from './claim-set.ts';
import { type Claim, covers } from './scopes.ts';

/**
 * Few words, so that scopes contain each other; stars of both sorts, at any place, and both sorts
 * of `**`.
 */
const segment = fc.constantFrom('a', 'b', '*');
const scope = fc
  .tuple(
    fc.array(segment, { maxLength: 2 }),
    fc.array(segment, { maxLength: 3 }),
    fc.constantFrom('', '', '', '**'),
  )
  .map(([colons, path, rest]) => {
    const head = ['s', ...colons, ...(rest !== '' && path.length === 0 ? [rest] : [])].join(':');
    const steps = rest === '' || path.length === 0 ? path : [...path, rest];
    return steps.length === 0 ? head : `${head}:/${steps.join('/')}`;
  });
const claim = fc
  .record({ scope, access: fc.constantFrom('read' as const, 'write' as const) })
  .map(({ scope: text, access }): Claim => ({ scope: readScope(text), access }));
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ add: claim }) },
  { weight: 2, arbitrary: fc.record({ take: claim }) },
  { weight: 4, arbitrary: fc.record({ ask: claim }) },
);

const isSame = (one: Claim, other: Claim): boolean =>
  one.access === other.access && one.scope.text === other.scope.text;
const textOf = ({ access, scope: { text } }: Claim): string => `${access} ${text}`;

test('covers the same claims as a full scan, few or many, as claims change', () => {
  fc.assert(
    fc.property(
      fc.array(claim),
      fc.array(step, { maxLength: 120, size: 'max' }),
      (first, steps) => {
        const set = new ClaimSet(first);
        const all = [...first];
        for (const each of steps) {
          if ('add' in each) {
            set.add(each.add);
            all.push(each.add);
          } else if ('take' in each) {
            const at = all.findIndex((one) => isSame(one, each.take));
            const taken = set.remove(each.take);
            expect(taken && textOf(taken)).toBe(at === -1 ? undefined : textOf(each.take));
            if (at !== -1) all.splice(at, 1);
          } else expect(set.covers(each.ask)).toBe(covers(all, each.ask));
        }
        expect([...set].map(textOf).sort()).toEqual(all.map(textOf).sort());
      },
    ),
    { numRuns: cases(200) },
  );
});

test('a claim covers another if its scope contains it; write covers read', () => {
  fc.assert(
    fc.property(claim, claim, (wider, narrower) => {
      const mayDo = wider.access === 'write' || narrower.access === 'read';
      expect(covers([wider], narrower)).toBe(
        mayDo && contains(wider.scope.text, narrower.scope.text),
      );
    }),
    { numRuns: cases(1_000) },
  );
});

test('the lookup of an enclosing claim does not depend on the number of claims', () => {
  const looked: number[] = [];
  for (const count of [100, 10_000]) {
    let looks = 0;
    const claims = Array.from({ length: count }, (_, n): Claim => {
      const { text, tokens, ...rest } = readScope(`fs:/repo/${n}/**`);
      const seen = {
        ...rest,
        get text() {
          looks++;
          return text;
        },
        get tokens() {
          looks++;
          return tokens;
        },
      };
      return { access: 'write', scope: seen };
    });
    const set = new ClaimSet(claims);
    looks = 0;
    const asked = (path: string): Claim => ({
      access: 'write',
      scope: readScope(`fs:/repo/${path}`),
    });
    expect([asked('7/a/b'), asked('none/a'), asked('7')].map((each) => set.covers(each))).toEqual([
      true,
      false,
      false,
    ]);
    expect(set.remove({ access: 'write', scope: readScope('fs:/repo/7/**') })).toBe(claims[7]);
    expect(set.covers(asked('7/a/b'))).toBe(false);
    looked.push(looks);
  }
  expect(looked).toEqual([0, 0]);
});
