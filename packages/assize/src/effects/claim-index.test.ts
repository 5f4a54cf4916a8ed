import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readScope } from '#authority';
import { cases } from '../../../../tests/support/cases.ts';
import { ClaimIndex, type Registration } from './claim-index.ts';
import { type Claim, conflicts, scopesOverlap } from './scopes.ts';

const meets = (left: string, right: string): boolean =>
  scopesOverlap(readScope(left), readScope(right));

describe('two scopes', () => {
  test.each([
    ['fs:/repo', 'fs:/repo', true],
    ['fs:/repo', 'fs:/repo/a', true],
    ['fs:/repo/**', 'fs:/repo/a/b', true],
    ['fs:/repo/**', 'fs:/repo', true],
    ['fs:/repo/*/b', 'fs:/repo/a', true],
    ['fs:/repo/*/b', 'fs:/repo/a/c', false],
    ['fs:/repo', 'fs:/repository', false],
    ['fs:/repo/**', 'fs:/other/**', false],
    ['db:*:users', 'db:shop:users:7', true],
    ['db:*:users', 'db:shop:orders', false],
    ['db:*', 'db:/shop', false],
    ['a:/**', 'a:b', false],
    ['a:**', 'a:/b', true],
    ['fs:**', 'db:**', false],
  ])('%s and %s: %s', (left, right, meet) => {
    expect(meets(left, right)).toBe(meet);
    expect(meets(right, left)).toBe(meet);
  });
});

/** Few words, so that scopes meet; stars of both sorts, at any place, and both sorts of `**`. */
const segment = fc.constantFrom('a', 'b', '*');
const scope = fc
  .tuple(
    fc.array(segment, { maxLength: 2 }),
    fc.array(segment, { maxLength: 3 }),
    fc.constantFrom('', '', '', '**'),
  )
  .map(([colons, path, rest]) => {
    const steps = rest === '' || path.length === 0 ? path : [...path, rest];
    const head = ['s', ...colons];
    if (rest !== '' && path.length === 0) head.push(rest);
    return steps.length === 0 ? head.join(':') : `${head.join(':')}:/${steps.join('/')}`;
  });
const claim = fc.record({ scope, access: fc.constantFrom('read' as const, 'write' as const) });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ add: claim, epoch: fc.nat(30) }) },
  { weight: 4, arbitrary: fc.record({ remove: fc.nat(40) }) },
  { weight: 4, arbitrary: fc.record({ ask: claim, before: fc.nat(31) }) },
);
const read = ({ scope: text, access }: { scope: string; access: Claim['access'] }): Claim => ({
  scope: readScope(text),
  access,
});

test('least conflicting and latest earlier epochs match a full scan of claims', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const index = new ClaimIndex();
      const all: Registration[] = [];
      for (const each of steps) {
        if ('add' in each) {
          all.push(index.add(each.epoch, read(each.add)));
        } else if ('remove' in each) {
          const [removed] = all.splice(each.remove % Math.max(all.length, 1), 1);
          if (removed !== undefined) {
            index.delete(removed);
            index.delete(removed);
          }
        } else {
          const asked = read(each.ask);
          const epochs = all
            .filter(({ claim: one }) => conflicts(one, asked))
            .map(({ epoch }) => epoch);
          expect(index.least(asked)).toBe(Math.min(...epochs));
          const earlier = epochs.filter((epoch) => epoch < each.before);
          expect(index.latestBefore(asked, each.before)).toBe(Math.max(...earlier));
        }
        expect(index.size).toBe(all.length);
      }
    }),
    { numRuns: cases(3_000) },
  );
});

test('scopes overlap iff they name equal resources or one inside another', () => {
  // All names of few segments, so that the question is asked of them one by one.
  const words = ['a', 'b', 'c'];
  const names: string[] = [];
  const grow = (name: string, isPath: boolean, left: number): void => {
    names.push(name);
    if (left === 0) return;
    for (const word of words) {
      if (!isPath) grow(`${name}:${word}`, false, left - 1);
      grow(isPath ? `${name}/${word}` : `${name}:/${word}`, true, left - 1);
    }
  };
  grow('s', false, 4);
  const tokens = names.map((name) => readScope(name).tokens);
  const means = (pattern: string): number[] => {
    const { tokens: wanted, rest } = readScope(pattern);
    const isMeant = (given: readonly string[]): boolean => {
      if (rest === '' ? given.length !== wanted.length : given.length <= wanted.length)
        return false;
      if (rest === '/**' && given[wanted.length]![0] !== '/') return false;
      return wanted.every(
        (token, n) => token === given[n] || (token[1] === '*' && token[0] === given[n]![0]),
      );
    };
    return tokens.flatMap((given, n) => (isMeant(given) ? [n] : []));
  };
  const isPrefix = (a: readonly string[], b: readonly string[]): boolean =>
    a.every((token, n) => token === b[n]);
  fc.assert(
    fc.property(scope, scope, (left, right) => {
      const [those, others] = [means(left), means(right)];
      const expected = those.some((a) =>
        others.some((b) => isPrefix(tokens[a]!, tokens[b]!) || isPrefix(tokens[b]!, tokens[a]!)),
      );
      // Patterns of more segments than the names have mean none of them.
      fc.pre(those.length > 0 && others.length > 0);
      expect(meets(left, right)).toBe(expected);
    }),
    { numRuns: cases(300) },
  );
});
