import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readScope } from '#authority';
import { cases } from '../../../tests/support/cases.ts';
import { mailResolver } from './index.ts';
import { mailScopes, message } from './message.ts';

const asked = { access: 'write', isPattern: false, signal: new AbortController().signal } as const;
const resolved = (scope: string): string => mailResolver(scope, asked) as string;

test.each([
  ['email:outbox:Ada@Example.COM.', 'email:outbox:ada@example.com'],
  ['email:outbox:*', 'email:outbox:*'],
  ['email:Outbox', 'email:Outbox'],
])('%s is %s', (scope, name) => {
  expect(resolved(scope)).toBe(name);
});

test('the scope of a message is canonical, for any form of its addresses', () => {
  const address = fc.emailAddress().filter((text) => message.safeParse({ to: text, subject: '', text: '' }).success);
  fc.assert(
    fc.property(address, fc.boolean(), (to, isLoud) => {
      const written = isLoud ? to.toUpperCase() : to;
      const [claimed] = mailScopes(message.parse({ to: written, subject: '', text: '' })).map(
        (each) => readScope(each).text,
      );
      expect(resolved(claimed!)).toBe(claimed);
      expect(resolved(readScope(mailScopes(message.parse({ to, subject: '', text: '' }))[0]!).text)).toBe(claimed);
    }),
    { numRuns: cases(500) },
  );
});
