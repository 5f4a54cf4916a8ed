import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Approval } from '../../api/queries.ts';
import { groupApprovals } from './group-approvals.ts';

const approval = fc
  .record({
    id: fc.uuid(),
    trajectory_id: fc.constantFrom('a', 'b'),
    name: fc.constantFrom('pay', 'wire'),
    channel: fc.constantFrom('boss', 'clerk'),
    reason: fc.constantFrom('invariant_escalated', 'irreversible'),
    invariant_id: fc.option(fc.constantFrom('LARGE', 'NEW'), { nil: undefined }),
  })
  .map(
    ({ name, ...rest }) =>
      ({ ...rest, action: { name, role: 'clerk', args: {} } }) as unknown as Approval,
  );

test('each approval is in one group, with the like ones, in the given order', () => {
  fc.assert(
    fc.property(fc.array(approval), (given) => {
      const groups = groupApprovals(given);
      const places = (of: readonly Approval[]) => of.map((one) => given.indexOf(one));
      expect(groups.flatMap(({ approvals }) => places(approvals)).sort((a, b) => a - b)).toEqual([
        ...given.keys(),
      ]);
      for (const { approvals } of groups)
        expect(places(approvals)).toEqual(places(approvals).toSorted((a, b) => a - b));
      const likeness = ({ trajectory_id, action, channel, reason, invariant_id }: Approval) =>
        [trajectory_id, action.name, channel, reason, invariant_id].join();
      for (const { approvals } of groups) expect(new Set(approvals.map(likeness)).size).toBe(1);
      expect(groups.length).toBe(new Set(given.map(likeness)).size);
    }),
  );
});
