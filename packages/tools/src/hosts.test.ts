import { domainToASCII, domainToUnicode } from 'node:url';
import type { Resolver } from 'assize/internal/effects';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import { apiResolver } from './http/index.ts';
import { mailResolver } from './mail/index.ts';

// A host has several spellings. All of them are one name, for each resolver of scopes with hosts.

const asked = { access: 'write', isPattern: false, signal: new AbortController().signal } as const;
const LETTERS = [...'abcxyzäöüßéñçøåабвгдежαβγδεωあいう漢字한글'];

const label = fc
  .array(fc.constantFrom(...LETTERS), { minLength: 1, maxLength: 8 })
  .map((letters) => letters.join(''));
const host = fc
  .array(label, { minLength: 1, maxLength: 3 })
  .map((labels) => [...labels, 'example'].join('.'))
  .filter((name) => domainToASCII(name) !== '');

const spellings = (name: string): string[] => {
  const ascii = domainToASCII(name);
  const upper = name.toUpperCase();
  return [
    ascii,
    ascii.toUpperCase(),
    domainToUnicode(ascii),
    name.normalize('NFD'),
    `${name}.`,
    name.replaceAll('.', '。'),
    // The upper case of a letter may be another name, as of ß.
    ...(domainToASCII(upper) === ascii ? [upper] : []),
  ];
};

test.each<[string, Resolver, (host: string) => string]>([
  ['mail', mailResolver, (name) => `email:outbox:ada@${name}`],
  ['api', apiResolver(), (name) => `api:${name}:/a`],
  [
    'api with an alias',
    apiResolver({ 'other.example': 'shop.example' }),
    (name) => `api:${name}:/a`,
  ],
])('%s: all spellings of a host are one name, of itself too', (_, resolver, scopeOf) => {
  fc.assert(
    fc.property(host, (name) => {
      const canonical = resolver(scopeOf(name), asked) as string;
      for (const spelled of spellings(name))
        expect(resolver(scopeOf(spelled), asked)).toBe(canonical);
      expect(resolver(canonical, asked)).toBe(canonical);
    }),
    { numRuns: cases(300) },
  );
});
