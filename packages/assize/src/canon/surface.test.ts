import { expect, test } from 'vitest';
import * as canon from './index.ts';

test('the public names change only by decision', () => {
  expect(Object.keys(canon).sort()).toEqual([
    'CanonError',
    'DEFAULT_LIMITS',
    'KeyError',
    'WORLD_LIMITS',
    'addMicros',
    'assertPublicKey',
    'canonicalize',
    'composed',
    'composedJson',
    'contentHash',
    'copyJson',
    'escapeSegment',

    'generateKeys',
    'hashBytes',
    'hashText',
    'instantFromMillis',
    'instantOf',
    'instantToMillis',
    'isInstant',
    'issueText',
    'issueWords',
    'keyedHash',
    'maxInstant',
    'misfitsOf',
    'normalForm',
    'ownerOf',
    'parseBySchema',
    'parseCanonical',
    'parseInstant',
    'parsePointer',
    'parseStrict',
    'plainText',
    'readCanonical',
    'readInstant',
    'signBytes',
    'signText',
    'sortKeys',
    'textPlace',
    'toPointer',
    'unescapeSegment',
    'verifyBytes',
    'verifyText',
  ]);
});

test('hashes and signatures that must never change', () => {
  const value = { b: [1, -0, 'é"\n'], a: { 10: null, 9: true } };
  const text = canon.canonicalize(value);
  expect(text).toBe('{"a":{"10":null,"9":true},"b":[1,0,"é\\"\\n"]}');
  expect(canon.contentHash(value)).toBe(
    '3bc9dc0e0a55bf9bb83213db988a92baafb09a0da441001ffe398f71c07074c2',
  );
  const { privateKey, publicKey } = canon.generateKeys(new Uint8Array(32));
  expect(publicKey).toBe('3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29');
  expect(canon.signText('entry', text, privateKey)).toBe(
    'c764ac97b38d1a741ec2b88206f08ee9f6bb29b93e15c48660a92bffd04ffd39' +
      'c0b8e6a6a0d8460d38d6a27a5a6b6b42426813d7fcd1b36de7401a0c96e36a0c',
  );
});
