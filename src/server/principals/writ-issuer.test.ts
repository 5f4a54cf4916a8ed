import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attenuate, contains, type Writ, writId } from '#authority';
import { isAssizeError } from '#base';
import { addMicros, generateKeys, type Instant } from '#canon';
import type { PrincipalKind, ResolvedGrant } from '#config';
import type { Caller } from './caller.ts';
import { WritIssuer } from './writ-issuer.ts';

const ROOT = { ...generateKeys(new Uint8Array(32).fill(3)) };
const NOW: Instant = '2026-01-01T00:00:00.000000Z';
const ACTIONS = ['pay', 'wire', 'undo', '**'];
const SCOPES = ['role:clerk:a', 'role:clerk:**', 'role:**', 'memory:front:**', '**'];

const grant: fc.Arbitrary<ResolvedGrant> = fc.record({
  trajectories: fc.constantFrom(['*'], ['main'], ['main', 'other'], ['other']),
  actions: fc.uniqueArray(fc.constantFrom(...ACTIONS), { minLength: 1, maxLength: 3 }),
  scopes: fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1, maxLength: 3 }),
  budget: fc.dictionary(fc.constantFrom('cents', 'calls'), fc.nat({ max: 1_000 })),
  requireApproval: fc.uniqueArray(fc.constantFrom('pay', '**'), { maxLength: 2 }),
  maxDepth: fc.nat({ max: 5 }),
});

function callerOf(grants: readonly ResolvedGrant[], name = 'agent:scout'): Caller {
  return { name, kinds: ['agent'] satisfies PrincipalKind[], grants, method: 'token' };
}

function codeOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return error.code;
  }
}

/** Whether a writ grants no more than a grant. */
function isWithin(writ: Writ, given: ResolvedGrant): boolean {
  const { actions = [], scopes = [], budget = {}, require_approval: approved = [] } = writ;
  return (
    actions.every((one) => given.actions.includes(one)) &&
    scopes.every((one) => given.scopes.some((pattern) => contains(pattern, one))) &&
    Object.entries(budget).every(([unit, amount]) => amount <= (given.budget[unit] ?? 0)) &&
    given.requireApproval.every((pattern) => approved.includes(pattern)) &&
    writ.max_depth <= given.maxDepth + 1
  );
}

test('a short writ is within one grant for its trajectory, whatever is asked', () => {
  fc.assert(
    fc.property(
      fc.array(grant, { maxLength: 3 }),
      fc.constantFrom('main', 'other', 'third'),
      fc.string(),
      (grants, id, action) => {
        const issuer = new WritIssuer(ROOT, 900, 0);
        const caller = callerOf(grants);
        const fitting = grants.filter(({ trajectories }) => trajectories.includes('*') || trajectories.includes(id));
        const all = issuer.allFor(caller, id, NOW);
        expect(all).toHaveLength(fitting.length);
        if (fitting.length === 0) {
          expect(codeOf(() => issuer.forAgent(caller, id, action, NOW))).toBe('forbidden');
          return;
        }
        for (const { writ, chain } of [issuer.forAgent(caller, id, action, NOW), ...all]) {
          expect(fitting.some((one) => isWithin(writ, one))).toBe(true);
          expect(writ).toMatchObject({ subject: 'agent:scout', trajectory: id, max_depth: 0 });
          expect(writ.not_before <= NOW && NOW < writ.expires).toBe(true);
          expect(writ.parent).toBe(writId(chain[0] as Writ));
          expect(chain[0]?.issuer).toBe(ROOT.publicKey);
        }
      },
    ),
  );
});

test('two issuers with one root key issue the same writs', () => {
  fc.assert(
    fc.property(fc.array(grant, { minLength: 1, maxLength: 3 }), fc.nat({ max: 100_000 }), (grants, seconds) => {
      const now = addMicros(NOW, seconds * 1_000_000);
      const [one, two] = [new WritIssuer(ROOT, 60, 0), new WritIssuer(ROOT, 60, 0)];
      expect(one.allFor(callerOf(grants), 'main', now)).toEqual(two.allFor(callerOf(grants), 'main', now));
      const other = new WritIssuer(generateKeys(new Uint8Array(32).fill(4)), 60, 0);
      for (const { writ } of other.allFor(callerOf(grants), 'main', now)) expect(writ.issuer).not.toBe(ROOT.publicKey);
    }),
  );
});

test('the short writs of all windows are children of one writ of the grant', () => {
  fc.assert(
    fc.property(grant, fc.array(fc.nat({ max: 10_000_000 }), { minLength: 2, maxLength: 10 }), (given, times) => {
      const issuer = new WritIssuer(ROOT, 60, 0);
      const caller = callerOf([{ ...given, trajectories: ['main'] }]);
      const issued = times.flatMap((seconds) => issuer.allFor(caller, 'main', addMicros(NOW, seconds * 1_000_000)));
      const [whole] = issuer.grantsOf(caller.name, caller.grants, 'main');
      expect(new Set(issued.map(({ writ }) => writ.parent))).toEqual(new Set([writId(whole?.writ as Writ)]));
      expect(new Set(issued.map(({ writ }) => writId(writ))).size).toBe(
        new Set(times.map((seconds) => Math.floor((Date.parse(NOW) / 1_000 + seconds) / 60))).size,
      );
    }),
  );
});

test('grants of other names, terms or trajectories have other writs', () => {
  fc.assert(
    fc.property(grant, grant, (a, b) => {
      const issuer = new WritIssuer(ROOT, 60, 0);
      const idOf = (name: string, given: ResolvedGrant, id: string) =>
        issuer.grantsOf(name, [{ ...given, trajectories: ['*'] }], id).map(({ writ }) => writId(writ))[0];
      expect(idOf('agent:a', a, 'main')).not.toBe(idOf('agent:b', a, 'main'));
      expect(idOf('agent:a', a, 'main')).not.toBe(idOf('agent:a', a, 'other'));
      if (JSON.stringify({ ...a, trajectories: [] }) !== JSON.stringify({ ...b, trajectories: [] }))
        expect(idOf('agent:a', a, 'main')).not.toBe(idOf('agent:a', b, 'main'));
    }),
  );
});

const WHOLE: ResolvedGrant = {
  trajectories: ['main'],
  actions: ['pay'],
  scopes: ['role:clerk:**'],
  budget: { cents: 100 },
  requireApproval: [],
  maxDepth: 1,
};

test('a part of a grant is within it, and no holder of a part passes it on', () => {
  const issuer = new WritIssuer(ROOT, 60, 0);
  const caller = callerOf([WHOLE]);
  const terms = {
    subject: 'agent:sub',
    actions: ['pay'],
    scopes: ['role:clerk:a'],
    expires: addMicros(NOW, 60_000_000),
  };
  const part = issuer.attenuated(caller, 'main', { ...terms, budget: { cents: 50 } });
  expect(isWithin(part.writ, WHOLE)).toBe(true);
  expect(part.writ).toMatchObject({ subject: 'agent:sub', trajectory: 'main' });
  const wider = [
    { ...terms, actions: ['**'] },
    { ...terms, scopes: ['**'] },
    { ...terms, budget: { cents: 101 } },
    { ...terms, budget: { calls: 1 } },
  ];
  for (const one of wider) expect(codeOf(() => issuer.attenuated(caller, 'main', one))).toBe('not_attenuated');
  const flat = callerOf([{ ...WHOLE, maxDepth: 0 }]);
  expect(codeOf(() => issuer.attenuated(flat, 'main', terms))).toBe('forbidden');
  expect(codeOf(() => issuer.attenuated(caller, 'other', terms))).toBe('forbidden');
  const holder: Caller = { ...callerOf([], 'agent:sub'), writ: part };
  expect(codeOf(() => issuer.attenuated(holder, 'main', terms))).toBe('forbidden');
  expect(codeOf(() => issuer.delegated(holder, 'main', 'child', { subject: 'x' }))).toBe('forbidden');
  // Its subject is no key, so its holder signs no child either.
  expect(codeOf(() => attenuate(part.writ, { ...terms, nonce: '1' }, generateKeys().privateKey))).toMatch(
    /wrong_key|not_attenuated|bad_writ/,
  );
});

test('a token for a part acts in its trajectory alone, also beside a grant', () => {
  const issuer = new WritIssuer(ROOT, 60, 0);
  const terms = {
    subject: 'agent:sub',
    actions: ['pay'],
    scopes: ['role:clerk:a'],
    expires: addMicros(NOW, 60_000_000),
  };
  const writ = issuer.attenuated(callerOf([WHOLE]), 'main', terms);
  const holder: Caller = { ...callerOf([{ ...WHOLE, trajectories: ['*'], actions: ['**'] }], 'agent:sub'), writ };
  expect(issuer.allFor(holder, 'main', NOW)).toEqual([writ]);
  expect(issuer.forAgent(holder, 'main', 'undo', NOW)).toEqual(writ);
  expect(issuer.allFor(holder, 'other', NOW)).toEqual([]);
  expect(codeOf(() => issuer.forAgent(holder, 'other', 'pay', NOW))).toBe('forbidden');
});

test('a principal has granted its own writs and those below, and no others', () => {
  const issuer = new WritIssuer(ROOT, 60, 0);
  const caller = callerOf([WHOLE]);
  const terms = {
    subject: 'agent:sub',
    actions: ['pay'],
    scopes: ['role:clerk:a'],
    expires: addMicros(NOW, 60_000_000),
  };
  const part = issuer.attenuated(caller, 'main', terms);
  const { signed, writ } = issuer.delegated(caller, 'main', 'child', {
    subject: 'agent:far',
    actions: ['pay'],
    scopes: ['role:clerk:a'],
  });
  const short = issuer.forAgent(caller, 'main', 'pay', NOW);
  for (const one of [part, short, { writ: signed, chain: [writ.writ, ...writ.chain] }]) {
    expect(issuer.hasGranted(caller, one)).toBe(true);
    expect(issuer.hasGranted(callerOf([WHOLE], 'agent:other'), one)).toBe(false);
    expect(issuer.hasGranted(callerOf([{ ...WHOLE, trajectories: ['other'] }]), one)).toBe(false);
    expect(issuer.hasGranted({ name: caller.name, grants: [] }, one)).toBe(false);
  }
});
