import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as olderZod from 'zod-4-4';
import { type Domain, defineDomain } from '#kernel';
import { runtimeOver } from '../../../../tests/support/ledger/runtime.ts';

/** A list of people, with one schema for a mail address and one for the arguments. */
function crm(
  mail: z.ZodType,
  args: z.ZodType = z.object({ id: z.string(), mail: z.string() }),
): Domain<any, any> {
  return defineDomain<any, any>({
    name: 'crm',
    version: '1',
    state: z.object({ people: z.record(z.string(), mail) }),
    initial: { people: {} },
    processes: { write: { writes: ['/people/*'] } },
    roles: { desk: { processes: ['write'] } },
    actions: {
      add: {
        process: 'write',
        args,
        apply: (state: any, input: any) => {
          state.people[input.id] = input.mail;
        },
      },
    },
    invariants: [],
  });
}

const given = { id: z.string(), mail: z.string() };
const older = olderZod.z as unknown as typeof z;

describe('a trajectory opens with the same domain in other words', () => {
  test.each<[string, Domain, Domain]>([
    [
      'a corrected description',
      crm(z.string().describe('Adress')),
      crm(z.string().describe('Address')),
    ],
    [
      'an added title of an argument',
      crm(z.string()),
      crm(z.string(), z.object(given).meta({ title: 'Person' })),
    ],
    [
      'another error message',
      crm(z.email('no address')),
      crm(z.email({ error: 'An address is missing.' })),
    ],
    ['the other form of a format', crm(z.string().email()), crm(z.email())],
    ['an older zod', crm(z.email().nullable()), crm(older.email().nullable())],
    [
      'members in another order',
      crm(z.string()),
      crm(z.string(), z.object({ mail: given.mail, id: given.id })),
    ],
  ])('%s', async (_what, before, after) => {
    const store = new MemoryStore();
    await runtimeOver(store, [before]).create(before, { trajectoryId: 'crm' });
    expect((await runtimeOver(store, [after]).open('crm', after)).domain).toBe(after);
  });
});

describe('a trajectory does not open with a domain that accepts other values', () => {
  test.each<[string, Domain, Domain]>([
    ['a format of the state', crm(z.string()), crm(z.email())],
    [
      'a bound of an argument',
      crm(z.string()),
      crm(z.string(), z.object({ ...given, id: z.string().max(9) })),
    ],
    ['a pattern of its own', crm(z.email()), crm(z.email({ pattern: /@example\.com$/ }))],
    ['null', crm(z.string()), crm(z.string().nullable())],
  ])('%s', async (_what, before, after) => {
    const store = new MemoryStore();
    await runtimeOver(store, [before]).create(before, { trajectoryId: 'crm' });
    await expect(runtimeOver(store, [after]).open('crm')).rejects.toMatchObject({
      code: 'domain_mismatch',
    });
  });
});
