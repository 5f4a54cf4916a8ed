/**
 * Decisions that need a human. In Table 3 agents *propose* extensions, severities and groupings. If
 * such a proposal reverts an earlier decision, a coordinator decides. These rules come last, so
 * that a coordinator never receives a proposal that would be refused anyway.
 */
import { escalate, type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import { COORDINATOR, isCoordinator } from '../coordinator.ts';
import { type DisclosureState, SEVERITIES } from '../schema.ts';

interface Approvable {
  approved_by?: string;
}

export function people({ each }: Rules<DisclosureState>): Invariant<DisclosureState>[] {
  return [
    each(
      'EMBARGO_EXTENSION_IS_APPROVED',
      '/queue/*/*/*',
      {
        channel: COORDINATOR,
        reads: ['/settings/embargo/extension_days'],
        with: () => ({ allowed: '/settings/embargo/extension_days' }),
        onApprove: (
          { queue },
          { counselor, keys: [organisation = '', maintainer = '', vulnerability = ''] },
        ) => {
          const extensions =
            queue[organisation]?.[maintainer]?.[vulnerability]?.embargo?.extensions ?? [];
          approveAll(extensions, counselor);
        },
      },
      ({ embargo }, { allowed = 0 }) => {
        const open = (embargo?.extensions ?? []).filter((extension) => !isApproved(extension));
        const days = open.reduce((sum, extension) => sum + extension.days, 0);
        return days <= allowed
          ? pass
          : escalate(
              `${days} days more, to ${embargo?.deadline}, with ${allowed} allowed: ${open.at(-1)?.reason}`,
            );
      },
    ),

    each(
      'SEVERITY_LOWERED_IS_APPROVED',
      '/severities/*',
      {
        channel: COORDINATOR,
        onApprove: ({ severities }, { counselor, keys: [vulnerability = ''] }) =>
          approveAll(severities[vulnerability]?.revisions ?? [], counselor),
      },
      ({ initial, current, revisions }) => {
        const chain = [initial, ...revisions.map(({ to }) => to)];
        if (revisions.some(({ from }, i) => from !== chain[i]) || current !== chain.at(-1)) {
          return reject('the revisions do not lead to the severity on record');
        }
        const lowered = revisions.find(
          (revision) =>
            SEVERITIES.indexOf(revision.to) < SEVERITIES.indexOf(revision.from) &&
            !isApproved(revision),
        );
        return lowered === undefined
          ? pass
          : escalate(`is it ${lowered.to} and not ${lowered.from}?`);
      },
    ),

    // It lifts embargo and patch, so an agent's statement is not enough for it.
    each(
      'PUBLIC_KNOWLEDGE_IS_CONFIRMED',
      '/knowledge/*',
      {
        channel: COORDINATOR,
        onApprove: ({ knowledge }, { counselor, keys: [vulnerability = ''] }) => {
          const row = knowledge[vulnerability];
          if (row !== undefined) row.confirmed_by = counselor;
        },
      },
      ({ status, confirmed_by = '' }, _, [vulnerability]) =>
        status !== 'publicly-known' || isCoordinator(confirmed_by)
          ? pass
          : escalate(`is ${vulnerability} publicly known? Then no information stays confidential`),
    ),

    each(
      'GROUP_LEFT_IS_APPROVED',
      '/groups/*/left/*',
      {
        channel: COORDINATOR,
        onApprove: ({ groups }, { counselor, keys: [group = ''] }) =>
          approveAll(groups[group]?.left ?? [], counselor),
      },
      (row, _, [group]) =>
        isApproved(row)
          ? pass
          : escalate(`${row.vulnerability} would leave the group ${group}: ${row.reason}`),
    ),
  ];
}

function isApproved({ approved_by = '' }: Approvable): boolean {
  return isCoordinator(approved_by);
}

function approveAll(rows: Approvable[], counselor: string): void {
  for (const row of rows) row.approved_by ??= counselor;
}
