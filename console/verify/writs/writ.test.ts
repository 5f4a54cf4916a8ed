import { expect, test } from 'vitest';
import { writIdOf, wrongWrit } from './writ.ts';

/** The writ of the example in the ledger's reference, section 12. */
const WRIT = JSON.parse(
  '{"actions":["spend"],"budget":{"calls":10},"expires":"2027-01-01T00:00:00.000000Z","issuer":"8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c","max_depth":0,"nonce":"w","not_before":"2026-03-23T09:00:00.000000Z","parent":null,"require_approval":[],"scopes":["role:spender"],"signature":"2cb94e431cdaf23adcd5f3c1633e3169c1b6ec4aa06554f480ece45c7094c03db3c0dc0553fd17979a862f800fa0a991dc8f212ae34288f7e542706c77160105","subject":"agent-7","trajectory":"example","v":1}',
);

test('the writ of the example has its id, and its signature holds', () => {
  expect(writIdOf(WRIT)).toBe('cd05878ee9c4120ffc856d9a5670cdcab819fbebb0d4730a96f55ff9639bd4b9');
  expect(wrongWrit(WRIT)).toBe('');
});

test('every member is signed', () => {
  const changes: Record<string, unknown> = {
    actions: ['spend', 'pay'],
    budget: { calls: 11 },
    expires: '2028-01-01T00:00:00.000000Z',
    max_depth: 1,
    nonce: 'x',
    not_before: '2026-01-01T00:00:00.000000Z',
    parent: 'a'.repeat(64),
    require_approval: ['spend'],
    scopes: ['**'],
    subject: 'agent-8',
    trajectory: 'other',
  };
  for (const [name, value] of Object.entries(changes))
    expect([name, wrongWrit({ ...WRIT, [name]: value })]).toEqual([
      name,
      'has a signature that does not hold',
    ]);
  expect(wrongWrit({ ...WRIT, issuer: 'b'.repeat(64) })).toBe('has a signature that does not hold');
});

test.each([
  ['another version', { v: 2 }],
  ['an unknown member', { more: 1 }],
  ['its issuer as its subject', { subject: WRIT.issuer }],
  ['no time between its ends', { expires: WRIT.not_before }],
  ['too many patterns', { scopes: Array(257).fill('a') }],
  ['a budget for no trajectory', { trajectory: undefined }],
  ['a name that is too long', { nonce: 'x'.repeat(513) }],
])('a writ with %s has another form', (_what, change) => {
  const writ = JSON.parse(JSON.stringify({ ...WRIT, ...change }));
  expect(wrongWrit(writ)).toMatch(/^(?!has a signature)./);
});
