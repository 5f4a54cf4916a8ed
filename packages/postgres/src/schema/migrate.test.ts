import { OPEN_END, OPEN_START } from 'assize/internal/memory';
import { expect, test } from 'vitest';
import { APPLICATION_ID, MIGRATIONS } from './migrate.ts';

const [schema] = MIGRATIONS as readonly [string];

test('has the open ends of periods that the code has', () => {
  const instants = new Set(schema.match(/'\d{4}-[^']*'/g));
  expect([...instants].sort()).toEqual([`'${OPEN_START}'`, `'${OPEN_END}'`]);
});

test('takes every advisory lock under the first key that the code has', () => {
  const locks = [...schema.matchAll(/pg_\w*advisory_\w*lock\w*\(([^,)]*), '/g)].map(
    ([, key]) => key,
  );
  expect(locks.length).toBeGreaterThan(10);
  expect(new Set([...locks, /classid = (\d+)/.exec(schema)![1]])).toEqual(
    new Set([String(APPLICATION_ID)]),
  );
});
