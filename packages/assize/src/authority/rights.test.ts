import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateKeys } from '#canon';
import { attenuate } from './attenuate.ts';
import { normalizeScope } from './grammar.ts';
import { mayRevoke, revokeScope } from './rights.ts';
import { issueWrit, type Writ, writId } from './writ.ts';

const keys = Array.from({ length: 8 }, (_, index) =>
  generateKeys(new Uint8Array(32).fill(index + 1)),
);

function rootOf(
  issuer: number,
  subject: number,
  nonce: string,
  grant: Pick<Writ, 'actions' | 'scopes'> = {},
): Writ {
  return issueWrit(
    {
      issuer: keys[issuer]!.publicKey,
      subject: keys[subject]!.publicKey,
      actions: ['**'],
      scopes: ['**'],
      not_before: '2026-01-01T00:00:00.000000Z',
      expires: '2027-01-01T00:00:00.000000Z',
      max_depth: 4,
      nonce,
      ...grant,
    },
    keys[issuer]!.privateKey,
  );
}

interface Line {
  readonly writ: Writ;
  readonly chain: readonly Writ[];
}

/**
 * The grant that makes a root's holder an office of its issuer, and all rights that any root can
 * have.
 */
const OFFICE = { actions: ['**', 'assize.revoke'], scopes: ['**', 'writ:**'] };

/** A root, two children of it, and one child of the first. */
function family(issuer: number, nonce: string, grant?: Pick<Writ, 'actions' | 'scopes'>): Line[] {
  const root = rootOf(issuer, 2, nonce, grant);
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
const office = family(0, 'office', OFFICE);
/** Rows revoke columns, in the order of `family`. */
const NONE = [0, 0, 0, 0];
const ALL = [1, 1, 1, 1];
const WITHIN = [[0, 1, 1, 1], [0, 0, 0, 1], NONE, NONE];

test.each([
  ['within one family: what stands below', one, one, WITHIN],
  [
    'of the same issuer: a root for everything revokes nothing',
    one,
    other,
    [NONE, NONE, NONE, NONE],
  ],
  [
    'of the same issuer: a root that is for it revokes all, and no child of it does',
    office,
    one,
    [ALL, NONE, NONE, NONE],
  ],
  ['within the family of such a root: what stands below', office, office, WITHIN],
  ['of another issuer: such a root revokes nothing', office, foreign, [NONE, NONE, NONE, NONE]],
  ['of another issuer: nobody revokes anything', one, foreign, [NONE, NONE, NONE, NONE]],
  ['of another issuer, the other way round', foreign, one, [NONE, NONE, NONE, NONE]],
])('%s', (_what, by, target, expected) => {
  expect(by.map((mine) => target.map((theirs) => Number(mayRevoke(mine, theirs))))).toEqual(
    expected,
  );
});

const target = one[0] as Line;
const scopeOf = ({ writ }: Line): string => revokeScope(writId(writ));

test.each<[string, boolean, string[], string[]]>([
  ['the action and the writ by name', true, ['assize.revoke'], [scopeOf(target)]],
  ['the action by name, any writ', true, ['assize.revoke'], ['writ:*']],
  ['the action by name, all of writs', true, ['note', 'assize.revoke'], ['role:a', 'writ:**']],
  ['the action by a star', false, ['*'], ['writ:**']],
  ['the action by two', false, ['**'], ['writ:**']],
  ['the writ by a star', false, ['assize.revoke'], ['**']],
  ['the writ by a star in front', false, ['assize.revoke'], ['*:**', `*:${writId(target.writ)}`]],
  [
    'another writ by name, and this one by a star',
    false,
    ['assize.revoke'],
    ['**', scopeOf(other[0] as Line)],
  ],
  ['a path of writs', false, ['assize.revoke'], ['writ:/**', '**']],
  ['nothing', false, [], []],
])('a root of the same issuer with %s', (_what, expected, actions, scopes) => {
  const by = { writ: rootOf(0, 5, 'by', { actions, scopes }), chain: [] };
  expect(mayRevoke(by, target)).toBe(expected);
  expect(mayRevoke(by, by)).toBe(false);
});

test('the scope of any writ is one name, in normal form', () => {
  fc.assert(
    fc.property(fc.constantFrom(...one, ...foreign), ({ writ }) => {
      const scope = revokeScope(writId(writ));
      expect(normalizeScope(scope)).toBe(scope);
    }),
  );
});
