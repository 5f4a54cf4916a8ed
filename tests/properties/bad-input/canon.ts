import * as canon from '#canon';
import type { Case, Exempt } from './case.ts';
import { exempt, takes } from './table.ts';

const { publicKey, privateKey } = canon.generateKeys(new Uint8Array(32).fill(1));
const AT = '2026-03-23T09:00:00.000000Z';
const LIMITS = { depthMax: 10, bytesMax: 1_000, nodesMax: 100, integers: 'safe', foreign: true };
const bytes = new Uint8Array([1, 2, 3]);
const HOT = 'on the way of every value: what it takes is checked before, and said by its type';

export const CANON: Readonly<Record<string, Case | Exempt>> = {
  textPlace: exempt('takes an error of this folder'),
  addMicros: takes(canon.addMicros, [AT, 1]),
  assertPublicKey: takes((key) => canon.assertPublicKey(key), [publicKey]),
  canonicalize: takes(canon.canonicalize, [{ a: [1, 'x'] }, LIMITS]),
  contentHash: takes(canon.contentHash, [{ a: [1, 'x'] }, LIMITS]),
  copyJson: takes(canon.copyJson, [{ a: [1, 'x'] }, LIMITS]),
  composed: exempt('on the way of every text: its caller has looked at it'),
  composedJson: exempt('takes what copyJson returned'),
  normalForm: exempt('takes a text that its caller has looked at'),
  ownerOf: exempt('takes a name and members that its caller has made'),
  escapeSegment: takes(canon.escapeSegment, ['a/b']),
  parseBySchema: exempt('takes any value; the schema is of a declaration'),
  misfitsOf: exempt('is given what a schema has made'),
  generateKeys: takes(canon.generateKeys, [new Uint8Array(32)]),
  hashBytes: takes(canon.hashBytes, [bytes]),
  hashText: takes(canon.hashText, ['text']),
  instantFromMillis: takes(canon.instantFromMillis, [1_000, 1]),
  instantToMillis: takes(canon.instantToMillis, [AT]),
  isInstant: takes(canon.isInstant, [AT]),
  issueText: exempt('is given what a schema has made'),
  issueWords: exempt('is given what a schema has made'),
  maxInstant: takes(canon.maxInstant, [AT, AT]),
  keyedHash: takes(canon.keyedHash, [new Uint8Array(32), 'text']),
  parseCanonical: takes(canon.parseCanonical, ['{"a":1}', LIMITS]),
  instantOf: takes(canon.instantOf, [new Date(0)]),
  parseInstant: takes(canon.parseInstant, ['2026-03-23T09:00:00+01:00']),
  parsePointer: takes(canon.parsePointer, ['/a/b']),
  parseStrict: takes(canon.parseStrict, ['{"a":1}', LIMITS]),
  plainText: takes(canon.plainText, [{ a: 1 }]),
  readInstant: takes(canon.readInstant, ['2026-03-23']),
  readCanonical: takes(canon.readCanonical, ['{"a":1}']),
  signBytes: takes(canon.signBytes, [bytes, privateKey]),
  signText: takes(canon.signText, ['entry', 'text', privateKey]),
  sortKeys: exempt(HOT),
  toPointer: takes(canon.toPointer, [['a', 'b']]),
  unescapeSegment: takes(canon.unescapeSegment, ['a~1b']),
  verifyBytes: takes(canon.verifyBytes, [bytes, canon.signBytes(bytes, privateKey), publicKey]),
  verifyText: takes(canon.verifyText, ['entry', 'text', canon.signText('entry', 'text', privateKey), publicKey]),
};
