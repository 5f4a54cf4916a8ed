/** The role of a proposal that names none. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain } from '#kernel';
import { parseIntent } from './intent.ts';

const act = { args: z.object({}), apply: () => undefined };
const processes = { one: { writes: ['/a'] }, two: { writes: ['/b'] } };
const domainWith = (change: object) =>
  defineDomain<any, any>({
    ...{ name: 'small', version: '1', state: z.object({ a: z.number(), b: z.number() }) },
    ...{ processes, invariants: [] },
    actions: { first: { ...act, process: 'one' }, second: { ...act, process: 'two' } },
    ...change,
  } as never);

const ROLES = {
  clerk: { processes: ['one'] },
  boss: { params: ['desk'], processes: ['two'] },
};

describe('a proposal without a role', () => {
  test.each<[string, object, string, string]>([
    ['has the only role of the domain', {}, 'first', 'agent'],
    ['has the only role of the domain, whatever the action', {}, 'no such action', 'agent'],
    ['has the only role that performs the process', { roles: ROLES }, 'first', 'clerk'],
  ])('%s', (_, change, action, name) => {
    const intent = parseIntent({ action, args: {} }, domainWith(change));
    expect(intent.role).toEqual({ name, params: {} });
  });

  test.each<[string, object, string]>([
    ['the role has parameters', { roles: ROLES }, 'second'],
    ['several roles perform the process', { roles: { ...ROLES, aide: ROLES.clerk } }, 'first'],
    ['no role performs the process', { roles: { clerk: ROLES.clerk } }, 'second'],
  ])('is refused where %s', (_, change, action) => {
    expect(() => parseIntent({ action, args: {} }, domainWith(change))).toThrow(
      /names no role, and (?:it can be proposed as|no role of the domain)/,
    );
  });
});
