import { expect, test } from 'vitest';
import { planOf } from './plan-of.ts';

const plan = {
  steps: [{ kind: 'halt', trajectory: 'main' }],
  remains: [{ what: 'a call', why: 'it was made', advice: 'look' }],
};
const proposal = (trajectory_id: string, name: string, args: unknown) =>
  planOf({ trajectory_id, action: { name, args, role: { name: 'opener' } } } as Parameters<
    typeof planOf
  >[0]);

test('a proposed response has its plan', () => {
  expect(proposal('incidents', 'open', { ...plan, because: 'a leak' })).toEqual(plan);
  expect(proposal('incidents', 'open', { steps: [], remains: [] })).toEqual({
    steps: [],
    remains: [],
  });
});

test.each([
  ['another trajectory', 'main', 'open', plan],
  ['another action', 'incidents', 'record', plan],
  ['erased arguments', 'incidents', 'open', undefined],
  ['no list', 'incidents', 'open', { ...plan, steps: 'all' }],
  ['a step that is not an object', 'incidents', 'open', { ...plan, steps: [null] }],
  [
    'an item without an advice',
    'incidents',
    'open',
    { ...plan, remains: [{ what: 'a call', why: 'made' }] },
  ],
])('no plan: %s', (_, trajectory, name, args) => {
  expect(proposal(trajectory, name, args)).toBeUndefined();
});
