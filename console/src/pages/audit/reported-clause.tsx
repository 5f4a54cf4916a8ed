import { Text } from '@mantine/core';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import classes from './audit-page.module.css';
import type { ReportClause } from './report-scope.ts';

type Status = ReportClause['status'];

const STANDINGS: Readonly<Record<Status, string>> = {
  shown: 'valid',
  gap: 'faulty',
  none: 'waiting',
};

/** A clause with its status. It opens to the evidence, with links to entries, and the remedies. */
export function ReportedClause({
  clause: { id, title, asks, status, measures },
}: {
  readonly clause: ReportClause;
}) {
  return (
    <li className={classes.clause}>
      <Mark status={status} />
      <details>
        <summary className={classes.summary}>
          <strong>{id}</strong> {title}
        </summary>
        <Text size="sm" c="dimmed">
          {asks}
        </Text>
        <ul className={classes.rows} aria-label={`Evidence for ${id}`}>
          {measures.map((measure) => (
            <li key={measure.id} className={classes.clause}>
              <Mark status={measure.status} />
              <Evidence measure={measure} />
            </li>
          ))}
        </ul>
      </details>
    </li>
  );
}

function Evidence({
  measure: { title, figure, examples = [], remedy, proof },
}: {
  readonly measure: ReportClause['measures'][number];
}) {
  return (
    <div>
      <Text size="sm">
        {title}:{' '}
        <Text span size="sm" fw={600}>
          <Inert>{figure}</Inert>
        </Text>
      </Text>
      {remedy !== undefined && <Text size="sm">To close the gap: {remedy}</Text>}
      {examples.map(({ id, trajectory_id: trajectoryId, seq, note }) => (
        <Text key={id} size="sm">
          <EntryLink id={id} place={{ trajectoryId, seq }} />
          {note !== undefined && (
            <>
              {' '}
              <Inert>{note}</Inert>
            </>
          )}
        </Text>
      ))}
      <Text size="xs" c="dimmed">
        Check: <code>{proof.command}</code>
      </Text>
    </div>
  );
}

function Mark({ status }: { readonly status: Status }) {
  return (
    <span className={classes.mark} data-standing={STANDINGS[status]}>
      {status}
    </span>
  );
}
