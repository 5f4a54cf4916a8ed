import { Anchor, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { timelineHref } from '../../parts/addresses.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { At } from '../../parts/instant.tsx';
import { RulingMark } from '../../parts/ruling-mark.tsx';
import classes from './backtest-result.module.css';
import { approversOf, decidedBy } from './ruled.tsx';
import type { ShownRuling, VerdictDifference } from './tallied.ts';

/** The first ruling that differs: what was ruled, and what would be. */
export function FirstDifference({ difference }: { readonly difference: VerdictDifference }) {
  const { seq, action, at, recorded, now } = difference;
  return (
    <section aria-label="First ruling that differs">
      <Title order={3} size="h6">
        First ruling that differs
      </Title>
      <Text size="sm">
        <Anchor
          component={Link}
          href={timelineHref(difference.trajectory_id, difference.seq)}
          size="sm"
          underline="always"
        >
          Entry {seq}
        </Anchor>
        , <Inert>{action}</Inert>{' '}
        <Text span size="sm" c="dimmed">
          at <At at={at} />
        </Text>
      </Text>
      <div className={classes.first}>
        <Side title="Then" ruled={recorded} />
        <Side title="Now" ruled={now} />
      </div>
      {difference.writ_assumed === true && (
        <Text size="sm" c="dimmed" mt={4}>
          The writ was never checked. It is assumed to grant the action.
        </Text>
      )}
    </section>
  );
}

function Side({ title, ruled }: { readonly title: string; readonly ruled: ShownRuling }) {
  const by = decidedBy(ruled);
  const approvers = approversOf(ruled);
  return (
    <div className={classes.side}>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <RulingMark ruling={ruled.ruling} />
      {by !== undefined && (
        <div>
          {ruled.rule !== undefined ? 'Rule ' : ''}
          <code className="wraps">
            <Inert>{by}</Inert>
          </code>
        </div>
      )}
      {approvers !== undefined && (
        <div>
          Asks <Inert>{approvers}</Inert>
        </div>
      )}
      {ruled.detail !== undefined && ruled.detail !== '' && (
        <div>
          <Inert>{ruled.detail}</Inert>
        </div>
      )}
    </div>
  );
}
