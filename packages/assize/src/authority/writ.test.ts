import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { canonicalize, generateKeys, hashText, signText } from '#canon';
import { attenuate } from './attenuate.ts';
import {
  issueWrit,
  MAX_DEPTH,
  MAX_ITEMS,
  parseWrit,
  signatureHolds,
  type WritGrant,
  writId,
} from './writ.ts';

const operator = generateKeys(new Uint8Array(32).fill(1));
const agent = generateKeys(new Uint8Array(32).fill(2));
const stranger = generateKeys(new Uint8Array(32).fill(3));

const grant: WritGrant = {
  issuer: operator.publicKey,
  subject: agent.publicKey,
  trajectory: 't1',
  actions: ['spend', 'book:*'],
  scopes: ['fs:/repo/**'],
  budget: { usd_micros: 1000, calls: 10 },
  not_before: '2026-01-01T00:00:00.000000Z',
  expires: '2027-01-01T00:00:00.000000Z',
  max_depth: 2,
  require_approval: ['book:flight'],
  nonce: 'n1',
};
const root = issueWrit(grant, operator.privateKey);

describe('issueWrit', () => {
  test('returns a stored-form root; its id hashes its signed canonical text', () => {
    expect(root).toMatchObject({ v: 1, parent: null, ...grant });
    expect(signatureHolds(root)).toBe(true);
    expect(writId(root)).toBe(hashText(canonicalize(root)));
  });

  test('is deterministic, and the nonce makes two writs of one grant', () => {
    expect(issueWrit(grant, operator.privateKey)).toEqual(root);
    expect(writId(issueWrit({ ...grant, nonce: 'n2' }, operator.privateKey))).not.toBe(
      writId(root),
    );
  });

  test('normalizes names before it signs them, and writes absent lists as empty', () => {
    const { actions: _a, scopes: _s, budget: _b, require_approval: _r, ...bare } = grant;
    const written = issueWrit({ ...bare, scopes: ['FS:/Cafe\u0301'] }, operator.privateKey);
    expect(written.scopes).toEqual(['fs:/Caf\u00e9']);
    expect(written).toMatchObject({ actions: [], budget: {}, require_approval: [] });
  });

  test('takes a text of a Date, and a day, and signs the instant', () => {
    const short = {
      ...grant,
      not_before: '2026-01-01',
      expires: new Date('2027-01-01').toISOString(),
    };
    expect(issueWrit(short, operator.privateKey)).toEqual(root);
    const child = attenuate(
      root,
      { subject: 'helper', nonce: 'c', expires: '2026-06-01' },
      agent.privateKey,
    );
    expect(child.expires).toBe('2026-06-01T00:00:00.000000Z');
    expect(() => issueWrit({ ...grant, expires: '2027-02-30' }, operator.privateKey)).toThrowError(
      expect.objectContaining({
        code: 'bad_writ',
        message: expect.stringContaining('or a day such as'),
      }),
    );
  });

  test('advises on an action whose star is a part of a segment', () => {
    for (const [actions, advised] of [
      [['bank.*'], true],
      [['bank*'], false],
    ] as const) {
      const advice =
        /not a whole segment\. Segments are separated by : or \/\. Name each action, such as bank\.payout\.$/;
      const message = advised
        ? expect.stringMatching(advice)
        : expect.stringMatching(/not a whole segment\.$/);
      expect(() => issueWrit({ ...grant, actions }, operator.privateKey)).toThrowError(
        expect.objectContaining({ code: 'bad_writ', message }),
      );
    }
  });

  test('refuses a key that is not the issuer’s', () => {
    expect(() => issueWrit(grant, stranger.privateKey)).toThrowError(
      expect.objectContaining({
        code: 'bad_key',
        message: expect.stringMatching(/The private key does not belong|Pass a key for/),
      }),
    );
  });

  test('refuses a budget that names no trajectory', () => {
    const { trajectory: _t, ...anywhere } = grant;
    const pointer = expect.objectContaining({
      code: 'bad_writ',
      evidence: expect.objectContaining({ pointer: '/trajectory' }),
    });
    expect(() => issueWrit(anywhere, operator.privateKey)).toThrowError(pointer);
  });

  test('a writ can’t be changed afterwards', () => {
    expect(
      Object.isFrozen(root) && Object.isFrozen(root.actions) && Object.isFrozen(root.budget),
    ).toBe(true);
  });
});

describe('parseWrit', () => {
  const stored = JSON.parse(canonicalize(root)) as { [key: string]: Json };

  test('reads a stored writ', () => {
    expect(parseWrit(stored)).toEqual(root);
    expect(writId(parseWrit(stored))).toBe(writId(root));
  });

  test('keeps no tie to its input', () => {
    const input = structuredClone(stored);
    const writ = parseWrit(input);
    (input['actions'] as Json[]).push('everything');
    input['subject'] = 'mallory';
    expect(writ).toEqual(root);
  });

  test.each(['actions', 'scopes', 'budget', 'require_approval'])(
    'an absent %s stays absent, and the signature holds',
    (list) => {
      const { [list]: _absent, signature: _signed, ...body } = stored;
      const writ = parseWrit({
        ...body,
        signature: signText('writ', canonicalize(body), operator.privateKey),
      });
      expect(Object.hasOwn(writ, list)).toBe(false);
      expect(signatureHolds(writ)).toBe(true);
    },
  );

  test.each<[string, (writ: { [key: string]: Json }) => unknown, string]>([
    ['an unknown member', (writ) => ({ ...writ, caveat: true }), '/caveat'],
    ['an unknown version', (writ) => ({ ...writ, v: 2 }), '/v'],
    ['a version as text', (writ) => ({ ...writ, v: '1' }), '/v'],
    ['no subject', ({ subject: _, ...writ }) => writ, '/subject'],
    ['a null subject', (writ) => ({ ...writ, subject: null }), '/subject'],
    ['an empty subject', (writ) => ({ ...writ, subject: '' }), '/subject'],
    ['itself as subject', (writ) => ({ ...writ, subject: writ['issuer']! }), '/subject'],
    [
      'an issuer in capitals',
      (writ) => ({ ...writ, issuer: String(writ['issuer']).toUpperCase() }),
      '/issuer',
    ],
    ['no parent', ({ parent: _, ...writ }) => writ, '/parent'],
    ['an empty parent', (writ) => ({ ...writ, parent: '' }), '/parent'],
    ['a null trajectory', (writ) => ({ ...writ, trajectory: null }), '/trajectory'],
    ['null for a list', (writ) => ({ ...writ, actions: null }), '/actions'],
    ['a text for a list', (writ) => ({ ...writ, actions: '*' }), '/actions'],
    ['a number in a list', (writ) => ({ ...writ, actions: [1] }), '/actions/0'],
    [
      'too long a list',
      (writ) => ({ ...writ, actions: Array(MAX_ITEMS + 1).fill('a') }),
      '/actions',
    ],
    ['a scope out of normal form', (writ) => ({ ...writ, scopes: ['FS:/a'] }), '/scopes/0'],
    ['a scope with ..', (writ) => ({ ...writ, scopes: ['fs:/a/../b'] }), '/scopes/0'],
    ['a list for a budget', (writ) => ({ ...writ, budget: [] }), '/budget'],
    ['a negative budget', (writ) => ({ ...writ, budget: { calls: -1 } }), '/budget/calls'],
    ['half a call', (writ) => ({ ...writ, budget: { calls: 0.5 } }), '/budget/calls'],
    ['a text for an amount', (writ) => ({ ...writ, budget: { calls: '1' } }), '/budget/calls'],
    ['a unit without a name', (writ) => ({ ...writ, budget: { '': 1 } }), '/budget/'],
    ['a budget for any trajectory', ({ trajectory: _, ...writ }) => writ, '/trajectory'],
    [
      'milliseconds',
      (writ) => ({ ...writ, not_before: '2026-01-01T00:00:00.000Z' }),
      '/not_before',
    ],
    [
      'a day that is not',
      (writ) => ({ ...writ, expires: '2026-02-30T00:00:00.000000Z' }),
      '/expires',
    ],
    ['an end at its beginning', (writ) => ({ ...writ, expires: writ['not_before']! }), '/expires'],
    ['too deep', (writ) => ({ ...writ, max_depth: MAX_DEPTH + 1 }), '/max_depth'],
    ['a negative depth', (writ) => ({ ...writ, max_depth: -1 }), '/max_depth'],
    ['no nonce', ({ nonce: _, ...writ }) => writ, '/nonce'],
    ['no signature', ({ signature: _, ...writ }) => writ, '/signature'],
    ['a short signature', (writ) => ({ ...writ, signature: 'ab' }), '/signature'],
    ['a list', () => [], ''],
    ['null', () => null, ''],
    ['an inherited member', (writ) => Object.create(writ), ''],
    [
      'a getter',
      (writ) => Object.defineProperty({ ...writ }, 'subject', { get: () => 'x', enumerable: true }),
      '',
    ],
    ['a proxy', (writ) => new Proxy(writ, {}), ''],
    [
      '__proto__ as data',
      (writ) => JSON.parse(`{"__proto__": {}, ${JSON.stringify(writ).slice(1)}`),
      '/__proto__',
    ],
  ])('refuses %s', (_name, change, pointer) => {
    const evidence = expect.objectContaining({ pointer });
    expect(() => parseWrit(change(structuredClone(stored)))).toThrowError(
      expect.objectContaining({ name: 'AuthorityError', code: 'bad_writ', evidence }),
    );
  });
});

describe('signatures', () => {
  test('a signed writ with any flipped bit fails verification', () => {
    const child = attenuate(
      root,
      { subject: 'helper', nonce: 'c', actions: ['spend'] },
      agent.privateKey,
    );
    const bytes = Buffer.from(canonicalize(child));
    const survivors: string[] = [];
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      const verdict = verdictOn(flipped.toString('utf8'));
      if (verdict) survivors.push(`bit ${bit}: ${flipped.toString('utf8')}`);
    }
    expect(survivors).toEqual([]);
  });

  test('bytes cut, doubled and swapped do not verify either', () => {
    const text = canonicalize(root);
    const place = fc.nat({ max: text.length - 2 });
    fc.assert(
      fc.property(place, fc.constantFrom('cut', 'double', 'swap'), (at, fault) => {
        const [head, one, two, tail] = [
          text.slice(0, at),
          text[at]!,
          text[at + 1]!,
          text.slice(at + 2),
        ];
        const broken = {
          cut: head + two + tail,
          double: head + one + one + two + tail,
          swap: head + two + one + tail,
        }[fault];
        fc.pre(broken !== text);
        expect(verdictOn(broken)).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  /** Whether a text is accepted as a writ that its issuer signed. */
  function verdictOn(text: string): boolean {
    try {
      return signatureHolds(parseWrit(JSON.parse(text)));
    } catch {
      return false;
    }
  }
});
