import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { canonicalize, hashText, signText } from '#canon';
import {
  ChainWriter,
  commitMembers,
  keysOf,
  rootMembers,
} from '../../../../../tests/support/ledger/rows.ts';
import {
  checkRow,
  type EntryRow,
  entryRow,
  type FaultCode,
  LedgerFault,
  type Payload,
  readRow,
} from '../index.ts';

const signer = keysOf(1);
const stranger = keysOf(2);

function rowsOf(signed?: typeof signer): EntryRow[] {
  const writer = new ChainWriter('t', signed);
  writer.add('root', rootMembers({ n: 0 }));
  writer.add('commit', commitMembers([{ op: 'replace', path: '/n', value: 1 }]));
  return writer.rows;
}
const [root, commit] = rowsOf() as [EntryRow, EntryRow];
const [signedRoot, signedCommit] = rowsOf(signer) as [EntryRow, EntryRow];

/**
 * A row with another payload and its new hash, as an attacker with access to the database would
 * write it.
 */
function rehashed(row: EntryRow, change: (payload: Record<string, any>) => void): EntryRow {
  const payload = JSON.parse(row.payload) as Record<string, Json>;
  change(payload);
  const text = canonicalize(payload);
  return { ...row, id: hashText(text), payload: text };
}

function retyped(row: EntryRow, text: string): EntryRow {
  return { ...row, id: hashText(text), payload: text };
}

function faultOf(row: EntryRow): { seq: number; code: FaultCode; trajectory_id: string } {
  try {
    checkRow(row);
  } catch (error) {
    expect(error).toBeInstanceOf(LedgerFault);
    return (error as LedgerFault).fault;
  }
  throw new Error('the row was taken as sound');
}

test('a row is the canonical text of its payload under its hash and reads back', () => {
  expect(root.id).toBe(hashText(root.payload));
  expect(root.payload).toBe(canonicalize(JSON.parse(root.payload)));
  expect(checkRow(root)).toEqual({ ...root, payload: JSON.parse(root.payload) });
  expect(readRow(root)).toEqual(checkRow(root));
});

test('the payload is not changed by signing, and the id covers the signature', () => {
  const payload = Object.freeze(JSON.parse(root.payload)) as Payload;
  const signed = entryRow(payload, signer);
  expect(payload.signature).toBeUndefined();
  expect(signed.id).not.toBe(root.id);
  expect(checkRow(signed).payload.signature).toEqual({
    key: signer.publicKey,
    value: expect.stringMatching(/^[0-9a-f]{128}$/),
  });
});

describe('a non-canonical text under a matching hash', () => {
  const texts: [string, string][] = [
    ['a blank', root.payload.replace(':', ': ')],
    ['another order of members', root.payload.replace(/^\{"at":("[^"]*"),(.*)\}$/, '{$2,"at":$1}')],
    ['an escape that need not be', root.payload.replace('"made"', '"m\\u0061de"')],
    ['a number in another form', root.payload.replace('"n":0', '"n":0.0')],
    ['a member twice', root.payload.replace('"n":0', '"n":0,"n":0')],
    ['text behind it', `${root.payload} `],
    ['no JSON', '{'],
    ['nothing', ''],
  ];
  test.each(texts)('%s', (_what, text) => {
    expect(text).not.toBe(root.payload);
    expect(faultOf(retyped(root, text))).toMatchObject({ seq: 0, code: 'not_canonical' });
    // Under the old id it is first of all not what was hashed.
    expect(faultOf({ ...root, payload: text })).toMatchObject({ seq: 0, code: 'tampered' });
  });
});

test('a text that has no UTF-8 bytes is a fault like any other', () => {
  const payload = root.payload.replace('made', '\ud800');
  expect(faultOf({ ...root, payload })).toMatchObject({ seq: 0, code: 'tampered' });
});

describe('columns beside the text that disagree with it', () => {
  const columns: [string, Partial<EntryRow>][] = [
    ['trajectory_id', { trajectory_id: 'other' }],
    ['seq', { seq: 7 }],
    ['parent', { parent: 'a'.repeat(64) }],
    ['no parent', { parent: null }],
    ['kind', { kind: 'rejection' }],
  ];
  test.each(columns)('%s', (_name, columns) => {
    expect(faultOf({ ...commit, ...columns })).toMatchObject({ code: 'column_mismatch' });
  });
  test('id', () => {
    expect(faultOf({ ...commit, id: 'a'.repeat(64) })).toMatchObject({ seq: 1, code: 'tampered' });
    expect(faultOf({ ...commit, id: commit.id.toUpperCase() })).toMatchObject({
      seq: 1,
      code: 'tampered',
    });
  });
});

describe('signatures', () => {
  const flipped = (hex: string, at: number): string =>
    hex.slice(0, at) +
    (Number.parseInt(hex[at] as string, 16) ^ 1).toString(16) +
    hex.slice(at + 1);
  const forged: [string, FaultCode, (payload: Record<string, any>) => void][] = [
    [
      'of a payload that was changed',
      'bad_signature',
      (payload) => (payload['budget_cost'] = { usd: 1 }),
    ],
    [
      'by another key than it names',
      'bad_signature',
      (payload) => {
        const { signature, ...unsigned } = payload;
        signature.value = signText('entry', canonicalize(unsigned), stranger.privateKey);
      },
    ],
    [
      'under the name of another key',
      'bad_signature',
      (payload) => (payload['signature'].key = stranger.publicKey),
    ],
    [
      'moved from another entry',
      'bad_signature',
      (payload) => (payload['signature'] = JSON.parse(signedRoot.payload).signature),
    ],
    [
      'given for another purpose',
      'bad_signature',
      (payload) => {
        const { signature, ...unsigned } = payload;
        signature.value = signText('approval', canonicalize(unsigned), signer.privateKey);
      },
    ],
    ['all zero', 'bad_signature', (payload) => (payload['signature'].value = '0'.repeat(128))],
    [
      'by the key of order one (any signature fits it)',
      'bad_signature',
      (payload) =>
        (payload['signature'] = { key: `01${'0'.repeat(62)}`, value: `01${'0'.repeat(126)}` }),
    ],
    [
      'with S beyond the order of the group',
      'bad_signature',
      (payload) =>
        (payload['signature'].value = payload['signature'].value.slice(0, 64) + 'f'.repeat(64)),
    ],
    [
      'in upper case',
      'malformed',
      (payload) => (payload['signature'].value = payload['signature'].value.toUpperCase()),
    ],
    [
      'cut short',
      'malformed',
      (payload) => (payload['signature'].value = payload['signature'].value.slice(2)),
    ],
    ['without a key', 'malformed', (payload) => delete payload['signature'].key],
    ['with a member more', 'malformed', (payload) => (payload['signature'].alg = 'none')],
    ['null', 'malformed', (payload) => (payload['signature'] = null)],
  ];
  test.each(forged)('%s', (_what, code, change) => {
    expect(faultOf(rehashed(signedCommit, change))).toMatchObject({ seq: 1, code });
  });

  test('every digit of a signature and of its key matters', () => {
    for (const [member, digits] of [
      ['value', 128],
      ['key', 64],
    ] as const) {
      for (let at = 0; at < digits; at++) {
        const row = rehashed(signedCommit, (payload) => {
          payload['signature'][member] = flipped(payload['signature'][member], at);
        });
        expect(faultOf(row), `${member} ${at}`).toMatchObject({ code: 'bad_signature' });
      }
    }
  });

  test('LIMIT: a rehashed entry without signature is sound; its child reveals it', () => {
    const bare = rehashed(signedCommit, (payload) => delete payload['signature']);
    expect(checkRow(bare).payload.signature).toBeUndefined();
    expect(bare.id).not.toBe(signedCommit.id);
  });
});
