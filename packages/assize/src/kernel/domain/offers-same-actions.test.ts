import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain, offersSameActions } from '../index.ts';

const state = z.strictObject({ n: z.number() });

function domainWith(version: string, args: z.ZodType, description = 'Adds.', limit = 1) {
  return defineDomain({
    ...{ name: 'counter', version, state },
    invariants: [],
    roles: { clerk: { processes: ['main'] }, guest: { processes: ['other'] } },
    processes: { main: { reads: ['/n'], writes: ['/n'] }, other: { reads: ['/n'], writes: [] } },
    actions: {
      add: {
        process: 'main',
        description,
        args,
        apply: (before: any) => ({ n: before.n + limit }),
      },
      look: { process: 'other', args: z.strictObject({}), apply: () => {} },
    },
  } as never);
}
const args = z.strictObject({ by: z.number().max(5) });
const one = domainWith('1', args);

test('versions that differ in code, rules or other roles offer the same', () => {
  expect(offersSameActions(one, domainWith('2', args, 'Adds.', 2), 'clerk')).toBe(true);
  expect(offersSameActions(one, domainWith('2', z.strictObject({}), 'Other.'), 'guest')).toBe(true);
  expect(offersSameActions(one, domainWith('2', z.strictObject({}), 'Other.'), 'clerk', [])).toBe(
    true,
  );
});

test('another text, schema or list is another offer', () => {
  expect(offersSameActions(one, domainWith('2', args, 'Adds more.'), 'clerk')).toBe(false);
  const described = z.strictObject({ by: z.number().max(5).describe('units') });
  for (const other of [z.strictObject({ by: z.number().max(6) }), described])
    expect(offersSameActions(one, domainWith('2', other), 'clerk')).toBe(false);
});
