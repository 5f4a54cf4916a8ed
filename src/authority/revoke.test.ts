import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateKeys } from '#canon';
import { attenuate } from './attenuate.ts';
import { normalizeScope } from './grammar.ts';
import { mayRevoke, revokeScope } from './revoke.ts';
import { issueWrit, type Writ, writId } from './writ.ts';

const keys = Array.from({ length: 8 }, (_, index) => generateKeys(new Uint8Array(32).fill(index + 1)));

function rootOf(issuer: number, subject: number, nonce: string): Writ {
  return issueWrit(
    {
      issuer: keys[issuer]!.publicKey,
      subject: keys[subject]!.publicKey,
      not_before: '2026-01-01T00:00:00.000000Z',
      expires: '2027-01-01T00:00:00.000000Z',
      max_depth: 4,
      nonce,
    },
    keys[issuer]!.privateKey,
  );
}

interface Line {
  readonly writ: Writ;
  readonly chain: readonly Writ[];
}

/** A root, two children of it, and one of the first of them. */
function family(issuer: number, nonce: string): Line[] {
  const root = rootOf(issuer, 2, nonce);
  const [a, b] = ['a', 'b'].map((name) =>
    attenuate(root, { subject: keys[3]!.publicKey, nonce: name }, keys[2]!.privateKey),
  ) as [Writ, Writ];
  const below = attenuate(a, { subject: keys[4]!.publicKey, nonce: 'c' }, keys[3]!.privateKey);
  return [
    { writ: root, chain: [] },
    { writ: a, chain: [root] },
    { writ: b, chain: [root] },
    { writ: below, chain: [a, root] },
  ];
}

const [one, other, foreign] = [family(0, 'one'), family(0, 'other'), family(1, 'foreign')];
/** Rows revoke columns, in the order of `family`. */
const NONE = [0, 0, 0, 0];
const ALL = [1, 1, 1, 1];
const WITHIN = [[0, 1, 1, 1], [0, 0, 0, 1], NONE, NONE];

test.each([
  ['within one family: what stands below', one, one, WITHIN],
  ['of the same issuer: a root revokes all', one, other, [ALL, NONE, NONE, NONE]],
  ['of another issuer: nobody revokes anything', one, foreign, [NONE, NONE, NONE, NONE]],
  ['of another issuer, the other way round', foreign, one, [NONE, NONE, NONE, NONE]],
])('%s', (_what, by, target, expected) => {
  expect(by.map((mine) => target.map((theirs) => Number(mayRevoke(mine, theirs))))).toEqual(expected);
});

test('the scope of any writ is one name, in normal form', () => {
  fc.assert(
    fc.property(fc.constantFrom(...one, ...foreign), ({ writ }) => {
      const scope = revokeScope(writId(writ));
      expect(normalizeScope(scope)).toBe(scope);
    }),
  );
});
