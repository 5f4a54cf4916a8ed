import { Text } from '@mantine/core';
import { Link } from 'wouter';
import { timelineHref } from '../../parts/addresses.ts';
import { CutText } from '../../parts/cut-text.tsx';
import { World } from '../../parts/halted.tsx';
import { Inert, Words } from '../../parts/inert-text.tsx';
import { RowTime } from '../../parts/instant.tsx';
import { RulingMark } from '../../parts/ruling-mark.tsx';
import classes from './activity-page.module.css';
import type { FoundEntry } from './activity-query.ts';

/** One entry: what was asked and ruled, when, and below it who, where and why. */
export function FoundRow({
  entry,
  outcome,
}: {
  readonly entry: FoundEntry;
  /** The phases of its calls. */
  readonly outcome?: string | undefined;
}) {
  const { ruling, action, kind, title, args, at, by, tools, rules, detail, trajectory_id, seq } =
    entry;
  return (
    <li>
      <Link href={timelineHref(trajectory_id, seq)} className={classes.row}>
        <span className={classes.ruling}>
          <RulingMark ruling={ruling} />
        </span>
        <CutText size="sm">
          <strong>
            <Words>
              {title ??
                (tools.length === 1 ? tools[0] : undefined) ??
                action ??
                kind.replaceAll('_', ' ')}
            </Words>
          </strong>{' '}
          {title === undefined && args !== undefined && (
            <span className={classes.args}>
              <Inert>{args}</Inert>
            </span>
          )}
        </CutText>
        <Text size="xs" c="dimmed" className={classes.when}>
          {at !== '' && <RowTime at={at} />}
        </Text>
        <CutText size="xs" c="dimmed" className={classes.why}>
          <Inert>{by.join(', ')}</Inert> in <World id={trajectory_id} />
          {rules.length > 0 && (
            <>
              {' · '}
              <span className={classes.rule}>
                <Inert>{rules.join(' ')}</Inert>
              </span>
            </>
          )}
          {outcome !== undefined && (
            <>
              {' · '}
              <Inert>{outcome}</Inert>
            </>
          )}
          {detail !== undefined && (
            <>
              {' · '}
              <Inert>{detail}</Inert>
            </>
          )}
        </CutText>
      </Link>
    </li>
  );
}
