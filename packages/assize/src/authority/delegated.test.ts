import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addMicros, generateKeys } from '#canon';
import { attenuate, delegateWrit, widening } from './attenuate.ts';
import { createWritVerifier, type WritDelegation, type WritUse } from './check.ts';
import {
  draftWrit,
  issueWrit,
  signWrit,
  type Writ,
  type WritBody,
  type WritGrant,
  writId,
} from './writ.ts';

// Writs that cross into another trajectory: their effect in each trajectory, and the rules of their
// delegation.

const keys = Array.from({ length: 10 }, (_, index) =>
  generateKeys(new Uint8Array(32).fill(index + 1)),
);
const start = '2026-01-01T00:00:00.000000Z';
const end = addMicros(start, 1_000);

const grant: WritGrant = {
  issuer: keys[0]!.publicKey,
  subject: keys[1]!.publicKey,
  trajectory: 'p',
  actions: ['spend', 'book'],
  scopes: ['till:**'],
  budget: { usd: 100 },
  not_before: start,
  expires: end,
  max_depth: 6,
  require_approval: ['book'],
  nonce: 'root',
};
const root = issueWrit(grant, keys[0]!.privateKey);
const verifier = createWritVerifier({ anchors: [keys[0]!.publicKey] });

/** A child for `trajectory`, from the writ of the holder on that level. */
function over(parent: Writ, level: number, trajectory: string, rest: object = {}): Writ {
  const terms = {
    subject: keys[level + 1]!.publicKey,
    nonce: `to ${trajectory}`,
    trajectory,
    ...rest,
  };
  return delegateWrit(parent, terms, keys[level]!.privateKey);
}

function inside(parent: Writ, level: number, nonce = 'inside'): Writ {
  return attenuate(parent, { subject: keys[level + 1]!.publicKey, nonce }, keys[level]!.privateKey);
}

/** The same rights as the parent, signed by its holder without checks. */
function forged(parent: Writ, level: number, changes: Partial<WritBody>): Writ {
  const { signature: _s, ...body } = parent;
  const made = {
    ...body,
    issuer: parent.subject,
    parent: writId(parent),
    subject: 'mallory',
    max_depth: 5,
    ...changes,
  };
  return signWrit(draftWrit(made), keys[level]!.privateKey);
}

const child = over(root, 1, 'c', { budget: { usd: 60 } });
const deep = over(inside(child, 2), 3, 'd', { budget: { usd: 5 } });

function use(writ: Writ, chain: readonly Writ[], rest: Partial<WritUse> = {}): string {
  const principal = writ.subject;
  const usual = {
    principal,
    trajectory: 'c',
    at: start,
    action: 'spend',
    scopes: [],
    revoked: new Set<string>(),
  };
  const answer = verifier.check({ writ, chain, ...usual, ...rest });
  return answer.ok ? 'ok' : answer.code;
}

describe('delegateWrit', () => {
  test('creates a child for another trajectory, without a budget unless named', () => {
    expect(child).toMatchObject({
      parent: writId(root),
      trajectory: 'c',
      budget: { usd: 60 },
      max_depth: 5,
    });
    expect(over(root, 1, 'c').budget).toEqual({});
    expect(over(root, 1, 'c', { budget: undefined }).budget).toEqual({});
  });

  test.each([
    ['actions', { actions: ['**'] }],
    ['scopes', { scopes: ['fs:**'] }],
    ['budget', { budget: { usd: 101 } }],
    ['budget', { budget: { eur: 0 } }],
    ['not_before', { not_before: addMicros(start, -1) }],
    ['expires', { expires: addMicros(end, 1) }],
    ['max_depth', { max_depth: 6 }],
    ['require_approval', { require_approval: [] }],
  ])('is as narrow on %s as any child', (axis, rest) => {
    expect(() => over(root, 1, 'c', rest)).toThrowError(
      expect.objectContaining({
        code: 'not_attenuated',
        evidence: expect.objectContaining({ axis }),
      }),
    );
  });

  test('is signed by the parent’s holder', () => {
    expect(() => over(root, 2, 'c')).toThrowError(
      expect.objectContaining({
        code: 'bad_key',
        message: expect.stringMatching(/The private key does not belong|Pass a key for/),
      }),
    );
  });

  test('attenuate makes none, and widening names the trajectory', () => {
    const terms = { subject: 'x', nonce: 'n', trajectory: 'c' };
    expect(() => attenuate(root, terms, keys[1]!.privateKey)).toThrowError(
      expect.objectContaining({ code: 'not_attenuated' }),
    );
    expect(widening(root, child)).toEqual({ axis: 'trajectory', parent: 'p', child: 'c' });
  });
});

describe('a writ that leads over', () => {
  const delegated = writId(child);

  test('counts where it was delegated to, with all that is made of it there', () => {
    expect(use(child, [root], { delegated })).toBe('ok');
    expect(use(inside(child, 2), [child, root], { delegated })).toBe('ok');
    expect(verifier.verify(child, [root], delegated)).toMatchObject({ ok: true });
  });

  test.each<[string, Partial<WritUse>, string]>([
    ['where nobody has delegated it', {}, 'not_attenuated'],
    ['where its parent is at home', { trajectory: 'p' }, 'not_attenuated'],
    [
      'where another one was delegated',
      { delegated: writId(over(root, 1, 'c')) },
      'not_attenuated',
    ],
    ['where its parent was delegated', { delegated: writId(root) }, 'not_attenuated'],
    ['in another trajectory than it names', { delegated, trajectory: 'x' }, 'wrong_trajectory'],
    ['for somebody else', { delegated, principal: 'x' }, 'wrong_principal'],
    ['after its end', { delegated, at: end }, 'expired'],
    ['when it was revoked', { delegated, revoked: new Set([delegated]) }, 'revoked'],
    ['when its parent was', { delegated, revoked: new Set([writId(root)]) }, 'revoked'],
  ])('does not count %s', (_where, rest, code) => {
    expect(use(child, [root], rest)).toBe(code);
  });

  test('is checked again at each use, even if its chain was verified before', () => {
    const own = createWritVerifier({ anchors: [keys[0]!.publicKey] });
    for (const [given, ok] of [
      [delegated, true],
      [undefined, false],
      [delegated, true],
      ['f'.repeat(64), false],
    ] as const) {
      expect(own.verify(child, [root], given).ok).toBe(ok);
    }
  });

  test('counts by its last step; ancestors were checked at delegation', () => {
    const chain = [inside(child, 2), child, root];
    expect(use(deep, chain, { trajectory: 'd', delegated: writId(deep) })).toBe('ok');
    expect(use(deep, chain, { trajectory: 'd', delegated })).toBe('not_attenuated');
    expect(use(deep, chain, { trajectory: 'd' })).toBe('not_attenuated');
  });

  test('does not lead back', () => {
    const back = over(child, 2, 'p', { budget: { usd: 60 } });
    expect(use(back, [child, root], { trajectory: 'p', delegated })).toBe('not_attenuated');
    expect(use(back, [child, root], { trajectory: 'p' })).toBe('not_attenuated');
  });

  test('is not wider on another axis because it leads over', () => {
    const wide = forged(root, 1, { trajectory: 'c', budget: { usd: 101 } });
    expect(use(wide, [root], { delegated: writId(wide) })).toBe('not_attenuated');
    // A child without a trajectory applies to any: that is wider, and not a crossing.
    const { trajectory: _t, ...anywhere } = forged(root, 1, { budget: {} });
    const { signature: _s, ...body } = anywhere as Writ;
    const free = signWrit(body, keys[1]!.privateKey);
    expect(use(free, [root], { delegated: writId(free) })).toBe('not_attenuated');
  });
});

describe('checkDelegation', () => {
  const usual: WritDelegation = {
    writ: child,
    chain: [root],
    trajectory: 'p',
    child: 'c',
    at: start,
    revoked: new Set(),
  };
  const codeOf = (rest: Partial<WritDelegation>): string => {
    const answer = verifier.checkDelegation({ ...usual, ...rest });
    return answer.ok ? 'ok' : answer.code;
  };
  const later = over(root, 1, 'c', { not_before: addMicros(start, 500) });
  const soon = over(root, 1, 'c', { expires: addMicros(start, 1) });
  const { trajectory: _t, budget: _b, ...unbound } = grant;
  const free = issueWrit({ ...unbound, nonce: 'free' }, keys[0]!.privateKey);
  const below = { writ: deep, chain: [inside(child, 2), child, root], trajectory: 'c', child: 'd' };

  test.each<[string, Partial<WritDelegation>, string]>([
    ['a child of a writ of the trajectory', {}, 'ok'],
    ['until the last instant', { at: addMicros(end, -1) }, 'ok'],
    ['one that will hold later', { writ: later }, 'ok'],
    ['of a writ for any trajectory', { writ: over(free, 1, 'c'), chain: [free] }, 'ok'],
    ['one for any trajectory, of such', { writ: inside(free, 1), chain: [free] }, 'ok'],
    ['of a writ that was delegated here', { ...below, delegated: writId(child) }, 'ok'],
    ['of a writ that was not', below, 'not_attenuated'],
    ['of one where another was', { ...below, delegated: writId(deep) }, 'not_attenuated'],
    ['a root', { writ: root, chain: [] }, 'broken_chain'],
    ['one whose parent is not shown', { chain: [] }, 'broken_chain'],
    ['one of another parent', { chain: [inside(root, 1), root] }, 'broken_chain'],
    ['from another trajectory', { trajectory: 'x' }, 'wrong_trajectory'],
    ['to another child', { child: 'x' }, 'wrong_trajectory'],
    ['one that stays here', { writ: inside(root, 1) }, 'wrong_trajectory'],
    ['before the parent holds', { at: addMicros(start, -1) }, 'not_yet_valid'],
    ['when the parent has expired', { at: end }, 'expired'],
    ['one that has expired itself', { writ: soon, at: addMicros(start, 1) }, 'expired'],
    ['one that was revoked', { revoked: new Set([writId(child)]) }, 'revoked'],
    ['one whose root was', { revoked: new Set([writId(root)]) }, 'revoked'],
    [
      'one that is wider',
      { writ: forged(root, 1, { trajectory: 'c', actions: ['**'] }) },
      'not_attenuated',
    ],
    ['one that was changed', { writ: { ...child, budget: { usd: 61 } } }, 'bad_signature'],
    ['none', { writ: {} as Writ }, 'bad_writ'],
  ])('%s: %s', (_what, rest, code) => {
    expect(codeOf(rest)).toBe(code);
  });

  test('under a foreign anchor is refused, and an invalid time is misuse', () => {
    const other = createWritVerifier({ anchors: [keys[9]!.publicKey] });
    expect(other.checkDelegation(usual)).toMatchObject({ ok: false, code: 'unknown_anchor' });
    expect(() => codeOf({ at: 'now' })).toThrowError(
      expect.objectContaining({ code: 'bad_instant' }),
    );
  });
});

test('in any chain a use counts in one trajectory, by its last writ (property)', () => {
  const links = fc.array(fc.constantFrom('stay', 'a', 'b', 'c'), { minLength: 1, maxLength: 6 });
  let counted = 0;
  fc.assert(
    fc.property(links, (line) => {
      let [writ, home, entrance, chain] = [
        root,
        'p',
        undefined as string | undefined,
        [] as Writ[],
      ];
      for (const [i, link] of line.entries()) {
        const next =
          link === 'stay' || link === home
            ? inside(writ, i + 1, `${i}`)
            : over(writ, i + 1, link, { nonce: `${i}` });
        chain = [writ, ...chain];
        if (next.trajectory !== home) [home, entrance] = [next.trajectory as string, writId(next)];
        writ = next;
      }
      const ids = [undefined, ...[writ, ...chain].map(writId)];
      for (const trajectory of ['p', 'a', 'b', 'c']) {
        for (const delegated of ids) {
          // Without a crossing, the delegated writ does not matter.
          const counts = trajectory === home && (entrance === undefined || delegated === entrance);
          expect(use(writ, chain, { trajectory, delegated }) === 'ok').toBe(counts);
          if (counts) counted++;
        }
      }
    }),
    { numRuns: 200 },
  );
  expect(counted).toBeGreaterThan(200);
});
