import { readScope } from 'assize/internal/authority';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { mailResolver } from './index.ts';
import { mailScopes, message } from './message.ts';

const asked = { access: 'write', isPattern: false, signal: new AbortController().signal } as const;
const resolved = (scope: string): string => mailResolver(scope, asked) as string;

test.each([
  ['email:outbox:Ada@Example.COM.', 'email:outbox:ada@example.com'],
  ['email:outbox:ada@bücher.example', 'email:outbox:ada@xn--bcher-kva.example'],
  ['email:outbox:Ada@XN--BCHER-KVA.example', 'email:outbox:ada@xn--bcher-kva.example'],
  ['email:outbox:ada@bu\u0308cher。example', 'email:outbox:ada@xn--bcher-kva.example'],
  ['email:outbox:*', 'email:outbox:*'],
  ['email:Outbox', 'email:Outbox'],
])('%s is %s', (scope, name) => {
  expect(resolved(scope)).toBe(name);
});

test.each([
  ['ada@Bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@bu\u0308cher.example', 'ada@xn--bcher-kva.example'],
  ['ada@почта.рф', 'ada@xn--80a1acny.xn--p1ai'],
  ['Ada@XN--80A1ACNY.XN--P1AI', 'Ada@xn--80a1acny.xn--p1ai'],
])('a message to %s goes to %s', (to, recipient) => {
  const given = message.parse({ to, subject: '', text: '' });
  expect(given.to).toEqual([recipient]);
  expect(mailScopes(given)).toEqual([`email:outbox:${recipient.toLowerCase()}`]);
});

test.each([
  'ada@',
  'ada@example',
  '@example.com',
  'ada@exa mple.com',
  'ada@a@b.example\n',
  'a@b.example\r\nBcc: x',
])('%j is not an address', (to) => {
  expect(message.safeParse({ to, subject: '', text: '' }).success).toBe(false);
});

test('the scope of a message is canonical, for any form of its addresses', () => {
  const address = fc
    .emailAddress()
    .filter((text) => message.safeParse({ to: text, subject: '', text: '' }).success);
  fc.assert(
    fc.property(address, fc.boolean(), (to, isLoud) => {
      const written = isLoud ? to.toUpperCase() : to;
      const [claimed] = mailScopes(message.parse({ to: written, subject: '', text: '' })).map(
        (each) => readScope(each).text,
      );
      expect(resolved(claimed!)).toBe(claimed);
      expect(
        resolved(readScope(mailScopes(message.parse({ to, subject: '', text: '' }))[0]!).text),
      ).toBe(claimed);
    }),
    { numRuns: cases(500) },
  );
});
