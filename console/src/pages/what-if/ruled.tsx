import { Text } from '@mantine/core';
import { Inert } from '../../parts/inert-text.tsx';
import { RulingMark } from '../../parts/ruling-mark.tsx';
import type { ShownRuling } from './tallied.ts';

/** A ruling, and the rule that decided it. */
export function Ruled({ ruled }: { readonly ruled: ShownRuling }) {
  const rule = decidedBy(ruled);
  return (
    <>
      <RulingMark ruling={ruled.ruling} />
      {rule !== undefined && (
        <Text span size="sm" c="dimmed">
          {' '}
          <Inert>{rule}</Inert>
        </Text>
      )}
    </>
  );
}

/** The rule of a policy, the invariant, or the reason. Undefined for a commit. */
export function decidedBy({ rule, invariant_id, reason }: ShownRuling): string | undefined {
  return rule ?? invariant_id ?? reason;
}

/** The people of whom an escalation asks approvals. */
export function approversOf({ approvals, channel }: ShownRuling): string | undefined {
  if (channel === undefined) return undefined;
  const kind = channel === 'any' ? 'any counselor' : channel;
  return approvals === undefined || approvals === 1 ? kind : `${approvals} × ${kind}`;
}
