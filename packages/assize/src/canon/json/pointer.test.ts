import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonName } from '../../../../../tests/json-values.ts';
import { canonFault } from '../../../../../tests/support/canon-fault.ts';
import { thrownBy } from '../../../../../tests/thrown-by.ts';
import { escapeSegment, parsePointer, toPointer, unescapeSegment } from './pointer.ts';

test('the examples of RFC 6901 section 5', () => {
  expect(parsePointer('')).toEqual([]);
  expect(parsePointer('/foo/0')).toEqual(['foo', '0']);
  expect(parsePointer('/')).toEqual(['']);
  expect(parsePointer('/a~1b')).toEqual(['a/b']);
  expect(parsePointer('/c%d')).toEqual(['c%d']);
  expect(parsePointer('/m~0n')).toEqual(['m~n']);
  expect(parsePointer('/ ')).toEqual([' ']);
});

test('~01 is ~1, not a slash', () => {
  expect(parsePointer('/~01')).toEqual(['~1']);
  expect(escapeSegment('~1')).toBe('~01');
  expect(unescapeSegment('~01')).toBe('~1');
});

test('a joined pointer splits into the same names', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(jsonName, fc.constantFrom('~', '/', '~0', '~1', '//', '')), {
        maxLength: 5,
      }),
      (names) => {
        expect(parsePointer(toPointer(names))).toEqual(names);
        for (const name of names) {
          expect(unescapeSegment(escapeSegment(name))).toBe(name);
          expect(escapeSegment(name)).not.toContain('/');
        }
      },
    ),
  );
});

describe('refuses', () => {
  test.each(['a', 'a/b', ' /a', '#/a', '/~', '/~2', '/a~', '/ok/~x'])(
    'the pointer %s',
    (pointer) => {
      const error = thrownBy(() => parsePointer(pointer));
      expect([canonFault(error), error.evidence['given']]).toEqual(['bad_pointer', pointer]);
    },
  );

  test.each(['/', 'a/b', '~', '~2'])('the segment %s', (segment) => {
    expect(canonFault(thrownBy(() => unescapeSegment(segment)))).toBe('bad_pointer');
  });
});
