import * as canon from '#canon';
import type { Case, Exempt } from './case.ts';
import { takes } from './table.ts';

const { publicKey, privateKey } = canon.generateKeys(new Uint8Array(32).fill(1));
const AT = '2026-03-23T09:00:00.000000Z';
const LIMITS = { depthMax: 10, bytesMax: 1_000, nodesMax: 100, integers: 'safe', foreign: true };
const bytes = new Uint8Array([1, 2, 3]);

export const CANON: Readonly<Record<string, Case | Exempt>> = {
  assertPublicKey: takes((key) => canon.assertPublicKey(key), [publicKey]),
  canonicalize: takes(canon.canonicalize, [{ a: [1, 'x'] }, LIMITS]),
  contentHash: takes(canon.contentHash, [{ a: [1, 'x'] }, LIMITS]),
  copyJson: takes(canon.copyJson, [{ a: [1, 'x'] }, LIMITS]),
  escapeSegment: takes(canon.escapeSegment, ['a/b']),
  generateKeys: takes(canon.generateKeys, [new Uint8Array(32)]),
  instantFromMillis: takes(canon.instantFromMillis, [1_000, 1]),
  isInstant: takes(canon.isInstant, [AT]),
  parseCanonical: takes(canon.parseCanonical, ['{"a":1}', LIMITS]),
  instantOf: takes(canon.instantOf, [new Date(0)]),
  parseInstant: takes(canon.parseInstant, ['2026-03-23T09:00:00+01:00']),
  parsePointer: takes(canon.parsePointer, ['/a/b']),
  parseStrict: takes(canon.parseStrict, ['{"a":1}', LIMITS]),
  readInstant: takes(canon.readInstant, ['2026-03-23']),
  readCanonical: takes(canon.readCanonical, ['{"a":1}']),
  signBytes: takes(canon.signBytes, [bytes, privateKey]),
  signText: takes(canon.signText, ['entry', 'text', privateKey]),
  toPointer: takes(canon.toPointer, [['a', 'b']]),
  unescapeSegment: takes(canon.unescapeSegment, ['a~1b']),
  verifyBytes: takes(canon.verifyBytes, [bytes, canon.signBytes(bytes, privateKey), publicKey]),
  verifyText: takes(canon.verifyText, [
    'entry',
    'text',
    canon.signText('entry', 'text', privateKey),
    publicKey,
  ]),
};
