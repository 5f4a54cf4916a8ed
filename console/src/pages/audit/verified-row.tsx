import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { TrajectoryInfo } from '../../api/trajectories-query.ts';
import { counted } from '../../parts/counted.ts';
import { Inert } from '../../parts/inert-text.tsx';
import classes from './audit-page.module.css';
import type { Verified, VerifyReport } from './use-verification.ts';

interface RowProps {
  readonly trajectory: TrajectoryInfo;
  readonly verified: Verified | undefined;
  readonly isRunning: boolean;
}

type Standing = 'none' | 'waiting' | 'running' | 'valid' | 'faulty' | 'unanswered';

const WORDS: Readonly<Record<Standing, string>> = {
  none: 'Not verified',
  waiting: 'Waits',
  running: 'Verifying',
  valid: 'Valid',
  faulty: 'Fault',
  unanswered: 'No answer',
};

/** A trajectory with the finding about it. */
export function VerifiedRow({ trajectory, verified, isRunning }: RowProps) {
  const { trajectory_id: id, domain, entries } = trajectory;
  const standing = standingOf(verified, isRunning);
  const { report, error } = verified ?? {};
  return (
    <li className={classes.row}>
      <span className={classes.mark} data-standing={standing === 'none' ? 'waiting' : standing}>
        {WORDS[standing]}
      </span>
      <span>
        <Anchor
          component={Link}
          href={`/timeline/${encodeURIComponent(id)}`}
          size="sm"
          fw={600}
          data-row
        >
          <Inert>{id}</Inert>
        </Anchor>{' '}
        <Text span size="sm" c="dimmed">
          <Inert>{`${domain.name}@${domain.version}`}</Inert>
        </Text>
      </span>
      <Text span size="sm" c="dimmed" className={classes.number}>
        {report === undefined || report.entries === entries
          ? counted(entries, 'entry', 'entries')
          : `${report.entries} of ${counted(entries, 'entry', 'entries')}`}
      </Text>
      {report?.fault !== undefined && <FaultLine fault={report.fault} />}
      {report?.warnings?.map((warning) => (
        <Text key={warning} size="sm" className={classes.more}>
          Warning: <Inert>{warning}</Inert>
        </Text>
      ))}
      {error !== undefined && (
        <Text size="sm" className={classes.more}>
          {error instanceof Error ? error.message : String(error)}
        </Text>
      )}
    </li>
  );
}

function FaultLine({ fault }: { readonly fault: NonNullable<VerifyReport['fault']> }) {
  const { trajectory_id: trajectory, seq, code, detail } = fault;
  return (
    <Text size="sm" className={classes.more}>
      <Anchor
        component={Link}
        href={`/timeline/${encodeURIComponent(trajectory)}/${seq}`}
        size="sm"
        underline="always"
      >
        Entry {seq}
      </Anchor>
      : <Inert>{detail}</Inert>{' '}
      <Text span size="xs" c="dimmed">
        ({code})
      </Text>
    </Text>
  );
}

function standingOf(verified: Verified | undefined, isRunning: boolean): Standing {
  if (isRunning) return 'running';
  if (verified === undefined) return 'none';
  if (verified.error !== undefined) return 'unanswered';
  if (verified.report === undefined) return 'waiting';
  return verified.report.valid ? 'valid' : 'faulty';
}
