import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAssizeError } from '#base';
import { addMicros, generateKeys } from '#canon';
import { cases, hasUsualCases } from '../../../../tests/support/cases.ts';
import { type Attenuation, attenuate, widening } from './attenuate.ts';
import { createWritVerifier } from './check.ts';
import { draftWrit, issueWrit, type Writ, type WritBody, type WritGrant, writId } from './writ.ts';

const keys = Array.from({ length: 10 }, (_, index) =>
  generateKeys(new Uint8Array(32).fill(index + 1)),
);
const start = '2026-01-01T00:00:00.000000Z';

const grant: WritGrant = {
  issuer: keys[0]!.publicKey,
  subject: keys[1]!.publicKey,
  trajectory: 't1',
  actions: ['spend', 'book:*'],
  scopes: ['fs:/repo/**', 'api:stripe:customers:*'],
  budget: { usd_micros: 1000, calls: 10 },
  not_before: start,
  expires: addMicros(start, 1000),
  max_depth: 3,
  require_approval: ['book:flight'],
  nonce: 'root',
};
const root = issueWrit(grant, keys[0]!.privateKey);

describe('attenuate', () => {
  test('keeps unchanged fields, with one level less', () => {
    const child = attenuate(root, { subject: keys[2]!.publicKey, nonce: 'c' }, keys[1]!.privateKey);
    const { signature: _s, ...body } = child;
    expect(body).toEqual({
      ...grant,
      v: 1,
      issuer: keys[1]!.publicKey,
      subject: keys[2]!.publicKey,
      parent: writId(root),
      max_depth: 2,
      nonce: 'c',
    });
  });

  test('is signed by the parent’s subject only', () => {
    const changes = { subject: 'x', nonce: 'c' };
    expect(() => attenuate(root, changes, keys[0]!.privateKey)).toThrowError(
      expect.objectContaining({
        code: 'bad_key',
        message: expect.stringMatching(/The private key does not belong|Pass a key for/),
      }),
    );
  });

  test('a subject that is not a public key issues nothing', () => {
    const leaf = attenuate(root, { subject: 'clerk', nonce: 'c' }, keys[1]!.privateKey);
    const deeper = { subject: 'x', nonce: 'd' };
    const attempt = (): Writ => attenuate(leaf, deeper, keys[1]!.privateKey);
    expect(attempt).toThrowError(expect.objectContaining({ code: 'bad_writ' }));
    expect(attempt).toThrowError(/^"clerk" cannot delegate this writ: /);
  });

  test('names all wider fields with the excess of each', () => {
    const changes = {
      ...{
        trajectory: 't2',
        actions: ['spend', 'refund'],
        scopes: ['fs:/**'],
        budget: { calls: 11, eur: 0 },
      },
      ...{ expires: addMicros(start, 1001), max_depth: 3, require_approval: [] },
    };
    const attempt = (): Writ =>
      attenuate(root, { subject: 'x', nonce: 'c', ...changes }, keys[1]!.privateKey);
    const beyond = 'exceeds the grant of the parent';
    expect(attempt).toThrowError(
      [
        `The child writ exceeds its parent: trajectory ${beyond} (t2, not t1)`,
        `actions ${beyond} ("refund")`,
        `scopes ${beyond} ("fs:/**")`,
        `budget ${beyond} (11 calls of ${grant.budget?.['calls']}, 0 eur of none)`,
        `expires ${beyond} (${addMicros(start, 1001)}, no later than ${addMicros(start, 1000)})`,
        `max_depth ${beyond} (3, less than 3)`,
        `require_approval ${beyond} (without "book:flight").`,
      ].join('; '),
    );
    const last = issueWrit({ ...grant, max_depth: 0 }, keys[0]!.privateKey);
    expect(() => attenuate(last, { subject: 'x', nonce: 'c' }, keys[1]!.privateKey)).toThrowError(
      /: max_depth exceeds the grant of the parent \(the parent allows no children\)\.$/,
    );
  });

  test.each<[string, Attenuation | Record<string, unknown>, unknown, unknown]>([
    ['actions', { actions: ['spend', 'refund'] }, grant.actions, ['spend', 'refund']],
    ['actions', { actions: ['book:**'] }, grant.actions, ['book:**']],
    ['scopes', { scopes: ['fs:/repository'] }, grant.scopes, ['fs:/repository']],
    ['scopes', { scopes: ['fs:/**'] }, grant.scopes, ['fs:/**']],
    ['budget', { budget: { calls: 11 } }, grant.budget, { calls: 11 }],
    ['budget', { budget: { eur: 0 } }, grant.budget, { eur: 0 }],
    ['not_before', { not_before: addMicros(start, -1) }, start, addMicros(start, -1)],
    [
      'expires',
      { expires: addMicros(start, 1001) },
      addMicros(start, 1000),
      addMicros(start, 1001),
    ],
    ['max_depth', { max_depth: 3 }, 3, 3],
    ['require_approval', { require_approval: [] }, ['book:flight'], []],
    ['trajectory', { trajectory: 't2' }, 't1', 't2'],
  ])('refuses a wider %s, with both values', (axis, changes, parent, child) => {
    const all = { subject: keys[2]!.publicKey, nonce: 'c', ...changes };
    expect(() => attenuate(root, all, keys[1]!.privateKey)).toThrowError(
      expect.objectContaining({ code: 'not_attenuated', evidence: { axis, parent, child } }),
    );
  });

  test('a writ of depth 0 has no children', () => {
    const last = issueWrit({ ...grant, max_depth: 0 }, keys[0]!.privateKey);
    const evidence = { axis: 'max_depth', parent: 0, child: 0 };
    expect(() => attenuate(last, { subject: 'x', nonce: 'c' }, keys[1]!.privateKey)).toThrowError(
      expect.objectContaining({ code: 'not_attenuated', evidence }),
    );
  });

  test('approval may be asked for more, by a wider pattern or another', () => {
    for (const require_approval of [['book:*'], ['spend', 'book:flight'], ['**']]) {
      const child = attenuate(
        root,
        { subject: 'x', nonce: 'c', require_approval },
        keys[1]!.privateKey,
      );
      expect(child.require_approval).toEqual(require_approval);
    }
  });

  test('refuses or overrules fields that the child may not set', () => {
    const forged = {
      subject: 'x',
      nonce: 'c',
      issuer: keys[3]!.publicKey,
      parent: null,
      v: 7,
      signature: '0'.repeat(128),
    };
    const child = attenuate(root, forged, keys[1]!.privateKey);
    expect(child).toMatchObject({ issuer: keys[1]!.publicKey, parent: writId(root), v: 1 });
    const unknown = { subject: 'x', nonce: 'c', caveat: 1 } as unknown as Attenuation;
    expect(() => attenuate(root, unknown, keys[1]!.privateKey)).toThrowError(
      expect.objectContaining({ code: 'bad_writ' }),
    );
  });
});

describe('widening', () => {
  const child = attenuate(root, { subject: 'x', nonce: 'c' }, keys[1]!.privateKey);

  test('finds nothing in a child, and names a stranger by issuer or parent', () => {
    expect(widening(root, child)).toBeUndefined();
    const other = { ...child, parent: '0'.repeat(64) };
    expect(widening(root, other)).toEqual({
      axis: 'parent',
      parent: writId(root),
      child: other.parent,
    });
    const foreign = { ...child, issuer: keys[5]!.publicKey };
    expect(widening(root, foreign)).toEqual({
      axis: 'issuer',
      parent: root.subject,
      child: foreign.issuer,
    });
  });
});

const name = fc.constantFrom('a', 'a:b', 'a:b:c', 'a:/b', 'a:/b/c', 'b', 'b:a', 'c');
const pattern = fc.oneof(
  name,
  fc.constantFrom('**', '*', 'a:*', 'a:**', 'a:/**', 'a:/*', 'a:/b/**', 'a:b:**', '*:a', 'b:**'),
);
const patterns = fc.array(pattern, { maxLength: 4 });
const moment = fc.nat({ max: 20 }).map((micros) => addMicros(start, micros));
const budget = fc.dictionary(fc.constantFrom('calls', 'usd', 'tokens'), fc.nat({ max: 5 }), {
  maxKeys: 3,
});
const axes = {
  actions: patterns,
  scopes: patterns,
  budget,
  not_before: moment,
  expires: moment,
  max_depth: fc.nat({ max: 8 }),
  require_approval: patterns,
  trajectory: fc.constantFrom('t1', 't2'),
};
/** Mostly one or two axes, so that many samples are narrower on all. */
const anyChange = fc
  .array(
    fc.oneof(
      ...Object.entries(axes).map(([axis, values]) =>
        fc.record({ [axis]: values as fc.Arbitrary<unknown> }),
      ),
    ),
    { minLength: 1, maxLength: 2 },
  )
  .map((changes) => Object.assign({}, ...changes) as Partial<Attenuation>);
const broad = fc
  .tuple(patterns, fc.constantFrom('**', 'a:**', 'b'))
  .map(([some, more]) => [...some, more]);
const universe = [
  'a',
  'a:b',
  'a:b:c',
  'a:/b',
  'a:/b/c',
  'b',
  'b:a',
  'c',
  'a:/b/x',
  'x:a',
  'x',
  'a:x',
];
const rootGrant = fc.record({
  actions: broad,
  scopes: broad,
  budget,
  require_approval: patterns,
  max_depth: fc.integer({ min: 1, max: 8 }),
});

/**
 * The uses that a body allows, by brute force over small universes: every (axis, value) that holds.
 */
function allowed(body: WritBody): Set<string> {
  const uses = new Set<string>();
  for (const action of universe) {
    if (judge(body, action, [])) uses.add(`action ${action}`);
    for (const scope of universe)
      if (judge(body, action, [scope])) uses.add(`${action} on ${scope}`);
  }
  for (let micros = 0; micros <= 21; micros++) {
    const at = addMicros(start, micros);
    if (at >= body.not_before && at < body.expires) uses.add(`at ${at}`);
  }
  for (const [unit, amount] of Object.entries(body.budget ?? {}))
    for (let n = 0; n < amount; n++) uses.add(`${unit} ${n}`);
  for (const trajectory of ['t1', 't2'])
    if ((body.trajectory ?? trajectory) === trajectory) uses.add(trajectory);
  for (let levels = 1; levels <= body.max_depth; levels++) uses.add(`${levels} levels`);
  return uses;
}

const verifier = createWritVerifier({ anchors: [keys[0]!.publicKey] });

/** A use without approval is more than one with approval. */
function judge(body: WritBody, action: string, scopes: string[]): boolean {
  const writ = signedFor(body);
  const answer = verifier.check({
    writ,
    chain: [],
    principal: writ.subject,
    trajectory: 't1',
    at: writ.not_before,
    action,
    scopes,
    revoked: new Set(),
  });
  return answer.ok && !answer.requiresApproval;
}

const signed = new WeakMap<WritBody, Writ>();
/** The same grant as a separate root, so that it is checked without its chain. */
function signedFor(body: WritBody): Writ {
  const known = signed.get(body);
  if (known !== undefined) return known;
  const { v: _v, parent: _p, ...rest } = body;
  const writ = issueWrit(
    { ...rest, issuer: keys[0]!.publicKey, subject: 'anyone', trajectory: 't1' },
    keys[0]!.privateKey,
  );
  signed.set(body, writ);
  return writ;
}

describe('attenuation is monotone on every axis', () => {
  test('an accepted child grants nothing beyond its parent, in any writ chain', () => {
    let accepted = 0;
    fc.assert(
      fc.property(rootGrant, fc.array(anyChange, { minLength: 1, maxLength: 4 }), (extra, line) => {
        let parent = issueWrit(
          { ...grant, expires: addMicros(start, 20), ...extra },
          keys[0]!.privateKey,
        );
        for (const [index, change] of line.entries()) {
          const child = attempt(parent, change, index);
          if (child === undefined) continue;
          accepted++;
          const [above, below] = [allowed(parent), allowed(child)];
          expect([...below].filter((use) => !above.has(use))).toEqual([]);
          expect(below.has(`${parent.max_depth} levels`)).toBe(false);
          parent = child;
        }
      }),
      { numRuns: cases(1_000) },
    );
    if (hasUsualCases()) expect(accepted).toBeGreaterThan(500);
  });

  test('no child that is wider by brute force is accepted, over generated pairs', () => {
    let wider = 0;
    fc.assert(
      fc.property(rootGrant, anyChange, (extra, change) => {
        const parent = issueWrit(
          { ...grant, expires: addMicros(start, 20), ...extra },
          keys[0]!.privateKey,
        );
        const { signature: _s, ...inherited } = parent;
        let child: WritBody;
        try {
          child = draftWrit({
            ...inherited,
            ...change,
            issuer: parent.subject,
            subject: 'x',
            parent: writId(parent),
          });
        } catch (error) {
          if (isAssizeError(error, 'bad_writ')) return;
          throw error;
        }
        const above = allowed(parent);
        const gains = [...allowed(child)].some((use) => !above.has(use));
        if (!gains) return;
        wider++;
        expect(widening(parent, child)).toBeDefined();
      }),
      { numRuns: cases(2_000) },
    );
    if (hasUsualCases()) expect(wider).toBeGreaterThan(500);
  });

  function attempt(parent: Writ, change: Partial<Attenuation>, index: number): Writ | undefined {
    const depth = keys.findIndex(({ publicKey }) => publicKey === parent.subject);
    const changes = { ...change, subject: keys[depth + 1]!.publicKey, nonce: `n${index}` };
    try {
      return attenuate(parent, changes, keys[depth]!.privateKey);
    } catch (error) {
      if (isAssizeError(error, 'not_attenuated') || isAssizeError(error, 'bad_writ'))
        return undefined;
      throw error;
    }
  }
});
