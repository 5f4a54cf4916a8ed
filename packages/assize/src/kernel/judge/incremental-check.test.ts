import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain } from '../domain/define-domain.ts';
import { pass } from '../domain/invariant-result.ts';
import { World } from './world.ts';

test('an excused check that threw is run again when its dependencies change', () => {
  const domain = defineDomain<any, any>({
    name: 'loans',
    version: '1',
    state: z.object({
      loans: z.record(z.string(), z.string()),
      limits: z.record(z.string(), z.number()),
    }),
    processes: {},
    roles: {},
    actions: {} as never,
    invariants: ({ each }: any) => [
      each(
        'LIMIT',
        '/loans/*',
        { reads: ['/limits/*'], with: (who: string) => ({ limit: `/limits/${who}` }) },
        (_: string, { limit }: any) => {
          if (limit === undefined) throw new Error('nobody knows the limit');
          return pass;
        },
      ),
    ],
  });
  const world = new World(domain, { loans: { x: 'ada' }, limits: {} });
  expect(world.failing).toHaveLength(1);
  world.checks.excuse(() => true);
  const judged = world.follow({ loans: { x: 'ada' }, limits: { ada: 1 } }, [
    { keys: ['limits', 'ada'] },
  ]);
  expect(judged.map(({ rule, keys, result }) => [rule.id, keys, result.result])).toEqual([
    ['LIMIT', ['x'], 'pass'],
  ]);
});
