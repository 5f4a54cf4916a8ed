import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { addMicros, canonicalize, generateKeys, type KeyPair, signText } from '#canon';
import { attenuate } from './attenuate.ts';
import { checkWrit, createWritVerifier, type WritRefusalCode, type WritUse } from './check.ts';
import {
  draftWrit,
  issueWrit,
  signatureHolds,
  signWrit,
  type Writ,
  type WritBody,
  writId,
} from './writ.ts';

// Unchanged, and counted.
vi.mock('./writ.ts', { spy: true });

const keys = Array.from({ length: 12 }, (_, index) =>
  generateKeys(new Uint8Array(32).fill(index + 1)),
);
const [operator, planner, worker, stranger] = keys as [KeyPair, KeyPair, KeyPair, KeyPair];
const start = '2026-01-01T00:00:00.000000Z';
const end = '2026-02-01T00:00:00.000000Z';

const root = issueWrit(
  {
    issuer: operator.publicKey,
    subject: planner.publicKey,
    trajectory: 't1',
    actions: ['spend', 'book:*'],
    scopes: ['fs:/data/p1/**', 'fs:/fs/**'],
    budget: { calls: 10 },
    not_before: start,
    expires: end,
    max_depth: 8,
    require_approval: ['book:flight'],
    nonce: 'root',
  },
  operator.privateKey,
);
const middle = attenuate(
  root,
  { subject: worker.publicKey, nonce: 'm', actions: ['spend', 'book:flight'] },
  planner.privateKey,
);
const leaf = attenuate(
  middle,
  { subject: 'clerk', nonce: 'l', require_approval: ['**'] },
  worker.privateKey,
);

const base = {
  anchors: [operator.publicKey],
  trajectory: 't1',
  at: start,
  action: 'spend',
  scopes: [],
  revoked: new Set<string>(),
};
const rootUse = { ...base, writ: root, chain: [], principal: planner.publicKey };
const leafUse = { ...base, writ: leaf, chain: [middle, root], principal: 'clerk' };

/** A writ with arbitrary content, signed with the right key: the attack of a holder of that key. */
function forge(parent: Writ, changes: Partial<WritBody>, privateKey: string): Writ {
  const { signature: _s, ...body } = parent;
  return signWrit(
    draftWrit({
      ...body,
      issuer: parent.subject,
      parent: writId(parent),
      subject: 'mallory',
      ...changes,
    }),
    privateKey,
  );
}

function codeOf(use: Parameters<typeof checkWrit>[0]): WritRefusalCode | 'ok' {
  const answer = checkWrit(use);
  return answer.ok ? 'ok' : answer.code;
}

describe('a use that is granted', () => {
  test('by a root and by a child two links below', () => {
    expect(checkWrit(rootUse)).toEqual({
      ok: true,
      writ_id: writId(root),
      requiresApproval: false,
    });
    expect(checkWrit(leafUse)).toEqual({ ok: true, writ_id: writId(leaf), requiresApproval: true });
  });

  test('asks for approval where the writ or one above it does', () => {
    expect(checkWrit({ ...rootUse, action: 'book:flight' })).toMatchObject({
      ok: true,
      requiresApproval: true,
    });
    expect(checkWrit({ ...rootUse, action: 'book:hotel' })).toMatchObject({
      ok: true,
      requiresApproval: false,
    });
  });

  test('scopes are compared in normal form', () => {
    expect(codeOf({ ...rootUse, scopes: ['FS:/data/p1/a', 'fs:/fs/x/y'] })).toBe('ok');
  });

  test('in the window, closed at its start and open at its end', () => {
    expect(codeOf({ ...rootUse, at: start })).toBe('ok');
    expect(codeOf({ ...rootUse, at: addMicros(end, -1) })).toBe('ok');
  });

  test('a writ that names no trajectory is for any', () => {
    const { signature: _s, trajectory: _t, ...body } = root;
    const anywhere = issueWrit({ ...body, budget: {} }, operator.privateKey);
    expect(codeOf({ ...rootUse, writ: anywhere, trajectory: 'other' })).toBe('ok');
  });
});

describe('a use that is not granted', () => {
  test.each<[WritRefusalCode, string, object]>([
    [
      'unknown_anchor',
      'the root is not by a key of the configuration',
      { anchors: [stranger.publicKey] },
    ],
    ['unknown_anchor', 'there are no anchors', { anchors: [] }],
    [
      'unknown_anchor',
      'the child’s own issuer is an anchor, its root’s is not',
      { ...leafUse, anchors: [worker.publicKey] },
    ],
    ['broken_chain', 'an ancestor is missing', { ...leafUse, chain: [middle] }],
    ['broken_chain', 'no ancestor at all', { ...leafUse, chain: [] }],
    ['broken_chain', 'the order is wrong', { ...leafUse, chain: [root, middle] }],
    ['broken_chain', 'one too many', { chain: [root] }],
    ['wrong_principal', 'someone else asks', { principal: stranger.publicKey }],
    ['wrong_trajectory', 'somewhere else', { trajectory: 't2' }],
    ['not_yet_valid', 'too early', { at: addMicros(start, -1) }],
    ['expired', 'at its end', { at: end }],
    ['revoked', 'itself revoked', { revoked: new Set([writId(root)]) }],
    ['revoked', 'an ancestor revoked', { ...leafUse, revoked: new Set([writId(root)]) }],
    ['revoked', 'a link revoked', { ...leafUse, revoked: new Set([writId(middle)]) }],
    ['action_not_granted', 'another action', { action: 'refund' }],
    ['action_not_granted', 'one that the child gave up', { ...leafUse, action: 'book:hotel' }],
    ['bad_resource', 'a pattern for an action', { action: 'book:*' }],
    ['bad_resource', 'no action', { action: '' }],
    ['scope_not_granted', 'another scope', { scopes: ['fs:/data/p1/a', 'fs:/etc/passwd'] }],
    ['scope_not_granted', 'a wider pattern', { scopes: ['fs:/data/**'] }],
  ])('%s: %s', (code, _why, change) => {
    expect(codeOf({ ...rootUse, ...change })).toBe(code);
  });

  test('the refusal states the error in one well-formed sentence for any request', () => {
    const long = 'x'.repeat(100_000);
    for (const odd of [long, '\ud800', 'a\nb', 'a\u202eb']) {
      for (const change of [
        { action: odd },
        { scopes: [odd] },
        { principal: odd },
        { trajectory: odd },
      ]) {
        const answer = checkWrit({ ...rootUse, ...change });
        expect(answer.ok).toBe(false);
        const detail = answer.ok ? '' : answer.detail;
        expect(detail.length).toBeLessThan(1300);
        expect(detail.isWellFormed() && !detail.includes('\n')).toBe(true);
      }
    }
  });

  test('an invalid time is misuse, not a refusal', () => {
    expect(() => checkWrit({ ...rootUse, at: '2026-01-15' })).toThrowError(
      expect.objectContaining({ code: 'bad_instant' }),
    );
  });
});

describe('the attack list of notes/ledger-security.md', () => {
  test.each<[string, Partial<WritBody>]>([
    ['adds an action', { actions: ['spend', 'refund'] }],
    ['adds a scope', { scopes: ['fs:/data/p2/**'] }],
    ['/fs becomes /fsx', { scopes: ['fs:/fsx/a'] }],
    ['raises the budget', { budget: { calls: 11 } }],
    ['adds a unit', { budget: { calls: 1, usd: 1 } }],
    ['lives longer', { expires: addMicros(end, 1) }],
    ['begins earlier', { not_before: addMicros(start, -1) }],
    ['keeps its depth', { max_depth: 8 }],
    ['drops an approval', { require_approval: [] }],
    ['moves to another trajectory', { trajectory: 't2' }],
  ])('row 19: a child that %s is not attenuated', (_what, changes) => {
    const child = forge(root, { max_depth: 7, ...changes }, planner.privateKey);
    const use = {
      ...rootUse,
      writ: child,
      chain: [root],
      principal: 'mallory',
      trajectory: changes.trajectory ?? 't1',
    };
    expect(codeOf(use)).toBe('not_attenuated');
  });

  test.each([
    'fs:/data/p1/../p2',
    'fs:/data/p1/%2e%2e/p2',
    'fs:/data/p1/%2E./p2',
    'fs:/data/p1//p2',
    'fs:/data/p1\\..\\p2',
    'fs:/data/p1/a%2f..',
  ])('row 19: the resource %s is refused by name', (scope) => {
    expect(codeOf({ ...rootUse, scopes: [scope] })).toBe('bad_resource');
    expect(() =>
      attenuate(root, { subject: 'x', nonce: 'c', scopes: [scope] }, planner.privateKey),
    ).toThrowError(expect.objectContaining({ code: 'bad_writ' }));
  });

  test.each<[string, (body: Record<string, unknown>) => Record<string, unknown>]>([
    ['an unknown caveat', (body) => ({ ...body, only_on_mondays: true })],
    ['an unknown version', (body) => ({ ...body, v: 2 })],
    ['a null subject', (body) => ({ ...body, subject: null })],
  ])('row 20: %s is rejected, even when well signed', (_what, change) => {
    const { signature: _s, ...body } = root;
    const changed = change(body);
    const writ = {
      ...changed,
      signature: signText('writ', canonicalize(changed), operator.privateKey),
    } as unknown as Writ;
    expect(codeOf({ ...rootUse, writ })).toBe('bad_writ');
  });

  test('row 20: a missing list grants nothing', () => {
    const { signature: _s, actions: _a, scopes: _c, ...body } = root;
    const writ = { ...body, signature: signText('writ', canonicalize(body), operator.privateKey) };
    expect(codeOf({ ...rootUse, writ })).toBe('action_not_granted');
    const unscoped = { ...body, actions: ['**'] };
    const acts = {
      ...unscoped,
      signature: signText('writ', canonicalize(unscoped), operator.privateKey),
    };
    expect(codeOf({ ...rootUse, writ: acts })).toBe('ok');
    expect(codeOf({ ...rootUse, writ: acts, scopes: ['fs:/data/p1/a'] })).toBe('scope_not_granted');
  });

  test('row 20: a child without an approval list does not shed its parent’s', () => {
    const {
      signature: _s,
      require_approval: _r,
      ...body
    } = forge(root, { max_depth: 7 }, planner.privateKey);
    const writ = { ...body, signature: signText('writ', canonicalize(body), planner.privateKey) };
    expect(codeOf({ ...rootUse, writ, chain: [root], principal: 'mallory' })).toBe(
      'not_attenuated',
    );
  });

  test('row 21: each use checks expiry and revocation, even of a verified chain', () => {
    const verifier = createWritVerifier(base);
    expect(verifier.check(leafUse)).toMatchObject({ ok: true });
    expect(verifier.check({ ...leafUse, at: end })).toMatchObject({ ok: false, code: 'expired' });
    expect(verifier.check({ ...leafUse, revoked: new Set([writId(root)]) })).toMatchObject({
      ok: false,
      code: 'revoked',
    });
    expect(verifier.check(leafUse)).toMatchObject({ ok: true });
  });

  test('row 23: a writ is useless to another key or trajectory, or as a parent', () => {
    expect(codeOf({ ...leafUse, principal: 'mallory' })).toBe('wrong_principal');
    expect(codeOf({ ...leafUse, trajectory: 't2' })).toBe('wrong_trajectory');
    const stolen = forge(middle, { issuer: stranger.publicKey, max_depth: 6 }, stranger.privateKey);
    expect(codeOf({ ...leafUse, writ: stolen, principal: 'mallory' })).toBe('not_attenuated');
  });

  test.each([
    ['all zero', '0'.repeat(64)],
    ['the neutral point', `01${'0'.repeat(62)}`],
    ['of order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
  ])('row 24: a low-order key (%s) is not an anchor and signs nothing', (_what, key) => {
    expect(() => createWritVerifier({ anchors: [key] })).toThrowError(
      expect.objectContaining({
        code: 'bad_key',
        message: expect.stringContaining('The public key has a low order,'),
      }),
    );
    const parent = attenuate(root, { subject: key, nonce: 'low' }, planner.privateKey);
    const child = {
      ...parent,
      issuer: key,
      subject: 'mallory',
      parent: writId(parent),
      max_depth: 6,
    };
    for (const signature of ['0'.repeat(128), key + '0'.repeat(64), `01${'0'.repeat(126)}`]) {
      const writ = { ...child, signature };
      expect(codeOf({ ...rootUse, writ, chain: [parent, root], principal: 'mallory' })).toBe(
        'bad_signature',
      );
    }
  });

  test('row 24: an all-zero signature and one with S not below L are rejected', () => {
    expect(codeOf({ ...rootUse, writ: { ...root, signature: '0'.repeat(128) } })).toBe(
      'bad_signature',
    );
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const scalar =
      BigInt(`0x${Buffer.from(root.signature.slice(64), 'hex').reverse().toString('hex')}`) + order;
    const second = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex')
      .reverse()
      .toString('hex');
    expect(
      codeOf({ ...rootUse, writ: { ...root, signature: root.signature.slice(0, 64) + second } }),
    ).toBe('bad_signature');
  });

  test.each(['entry', 'approval', 'checkpoint'] as const)(
    'row 24: a signature for an %s is not valid for a writ',
    (purpose) => {
      const { signature: _s, ...body } = root;
      const writ = {
        ...root,
        signature: signText(purpose, canonicalize(body), operator.privateKey),
      };
      expect(codeOf({ ...rootUse, writ })).toBe('bad_signature');
    },
  );
});

describe('chains', () => {
  /** A chain of `length` children, each signed with the key of the previous one. */
  function line(length: number): Writ[] {
    const writs = [root];
    for (let index = 0; index < length; index++) {
      const changes = { subject: keys[index + 2]!.publicKey, nonce: `n${index}` };
      writs.unshift(attenuate(writs[0]!, changes, keys[index + 1]!.privateKey));
    }
    return writs;
  }

  test('reach 8 links below the root, and no further', () => {
    const [deepest, ...chain] = line(8);
    expect(codeOf({ ...rootUse, writ: deepest!, chain, principal: deepest!.subject })).toBe('ok');
    const ninth = { ...deepest!, parent: writId(deepest!), subject: 'x' };
    expect(codeOf({ ...rootUse, writ: ninth, chain: [deepest!, ...chain] })).toBe('too_deep');
  });

  test('reach less far when the configuration says so', () => {
    const [deepest, ...chain] = line(3);
    const use = { ...rootUse, writ: deepest!, chain, principal: deepest!.subject };
    expect(codeOf({ ...use, maxDepth: 3 })).toBe('ok');
    expect(codeOf({ ...use, maxDepth: 2 })).toBe('too_deep');
  });

  test('a key that comes back further down is a cycle', () => {
    const back = attenuate(
      middle,
      { subject: planner.publicKey, nonce: 'back' },
      worker.privateKey,
    );
    expect(codeOf({ ...rootUse, writ: back, chain: [middle, root] })).toBe('cycle');
    const top = attenuate(middle, { subject: operator.publicKey, nonce: 'top' }, worker.privateKey);
    expect(
      codeOf({ ...rootUse, writ: top, chain: [middle, root], principal: operator.publicKey }),
    ).toBe('cycle');
  });

  test('a bad signature anywhere in the chain breaks it', () => {
    const { signature: _s, ...body } = root;
    const badRoot = {
      ...root,
      signature: signText('writ', canonicalize(body), stranger.privateKey),
    };
    const child = forge(badRoot, { max_depth: 7 }, planner.privateKey);
    expect(codeOf({ ...rootUse, writ: child, chain: [badRoot], principal: 'mallory' })).toBe(
      'bad_signature',
    );
  });
});

describe('the verifier’s memory', () => {
  const uses: WritUse[] = [
    rootUse,
    leafUse,
    { ...leafUse, chain: [middle] },
    { ...leafUse, chain: [root, middle] },
    { ...leafUse, chain: [middle, { ...root, nonce: 'other' }] },
    { ...leafUse, writ: { ...leaf, signature: '0'.repeat(128) } },
    { ...leafUse, writ: { ...leaf, actions: ['**'] } },
    { ...rootUse, writ: middle, chain: [root], principal: worker.publicKey },
  ];

  test.each([0, 1, 2, 100])('of size %i never changes an answer', (cacheSize) => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: uses.length - 1 }), { maxLength: 20 }), (order) => {
        const warm = createWritVerifier({ ...base, cacheSize });
        for (const index of order)
          expect(warm.check(uses[index]!)).toEqual(checkWrit({ ...base, ...uses[index]! }));
      }),
      { numRuns: 50 },
    );
  });

  test('each link’s signature is checked once, time-dependent parts at each use', () => {
    const verifier = createWritVerifier(base);
    const looked = vi.mocked(signatureHolds);
    looked.mockClear();
    const revoked = new Set<string>();
    const codes = (): string[] =>
      [
        {},
        { at: end },
        { at: addMicros(start, -1) },
        { principal: 'x' },
        { trajectory: 't2' },
        { action: 'refund' },
      ].map((change) => {
        const answer = verifier.check({ ...leafUse, revoked, ...change });
        return answer.ok ? 'ok' : answer.code;
      });
    const others = ['expired', 'not_yet_valid', 'wrong_principal', 'wrong_trajectory'];
    expect(codes()).toEqual(['ok', ...others, 'action_not_granted']);
    expect(looked).toHaveBeenCalledTimes(3);
    // Revoked between two uses, by a link in the middle.
    revoked.add(writId(middle));
    expect(codes()).toEqual(['revoked', ...others, 'revoked']);
    revoked.clear();
    expect(codes()[0]).toBe('ok');
    expect(
      verifier.check({ ...rootUse, writ: middle, chain: [root], principal: worker.publicKey }).ok,
    ).toBe(true);
    const sibling = attenuate(middle, { subject: 'sibling', nonce: 's' }, worker.privateKey);
    expect(verifier.check({ ...leafUse, writ: sibling, principal: 'sibling' }).ok).toBe(true);
    // The middle link was checked with its child, so the sibling's signature is the only new one.
    for (let n = 0; n < 100; n++) verifier.check(leafUse);
    expect(looked).toHaveBeenCalledTimes(4);
    // An invalid chain is not cached as a valid one.
    const false_ = { ...leafUse, writ: { ...leaf, signature: '0'.repeat(128) } };
    for (let n = 0; n < 2; n++)
      expect(verifier.check(false_)).toMatchObject({ code: 'bad_signature' });
  });

  test('verify gives the lineage, leaf first', () => {
    const answer = createWritVerifier(base).verify(leaf, [middle, root]);
    expect(answer).toMatchObject({
      ok: true,
      lineage: [writId(leaf), writId(middle), writId(root)],
    });
  });

  test('a writ changed in place after it was verified is checked again', () => {
    const verifier = createWritVerifier(base);
    const writ = structuredClone(root) as { -readonly [K in keyof Writ]: Writ[K] };
    expect(verifier.check({ ...rootUse, writ })).toMatchObject({ ok: true });
    writ.actions = ['**'];
    expect(verifier.check({ ...rootUse, writ, action: 'refund' })).toMatchObject({
      code: 'bad_signature',
    });
  });

  test.each([{ cacheSize: -1 }, { cacheSize: 1.5 }, { maxDepth: 9 }, { maxDepth: -1 }])(
    'refuses %j',
    (options) => {
      expect(() => createWritVerifier({ ...base, ...options })).toThrowError(
        expect.objectContaining({
          code: 'bad_argument',
          message: expect.stringContaining('must be a whole number from'),
        }),
      );
    },
  );
});
