import { Anchor, List, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { timelineHref } from '../../parts/addresses.ts';
import { EntryLink, useEntry } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { useHead } from '../timeline/entries-query.ts';
import type { Plan, Step } from './incidents-query.ts';
import classes from './plan-text.module.css';

const HASH = /\b[0-9a-f]{64}\b/g;

/** The steps of a response with their outcomes, and the consequences that remain. */
export function PlanText({ steps, remains }: Pick<Plan, 'steps' | 'remains'>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls is reached by keys
    <section className={classes.plan} aria-label="Plan" tabIndex={0}>
      <Stack gap="xs">
        <Title order={3} size="h6">
          {steps.length === 1 ? '1 step' : `${steps.length} steps`}
        </Title>
        {steps.length > 0 && (
          <List size="sm" spacing={2} type="ordered">
            {steps.map((step) => (
              <List.Item key={JSON.stringify(step)}>
                <StepText step={step} />
              </List.Item>
            ))}
          </List>
        )}
        {remains.length > 0 && (
          <>
            <Title order={3} size="h6">
              {remains.length === 1 ? '1 item remains' : `${remains.length} items remain`}
            </Title>
            <List size="sm" spacing={4}>
              {remains.map(({ what, entry, title, why, advice }) => (
                <List.Item key={`${what} ${entry}`}>
                  {title !== undefined && (
                    <>
                      <b>
                        <Inert>{title}</Inert>
                      </b>
                      :{' '}
                    </>
                  )}
                  <Inert>{what.replace(HASH, (hash) => `${hash.slice(0, 12)}…`)}</Inert>
                  {entry !== undefined && (
                    <>
                      , <EntryLink id={entry} />, <CorrectionLink entry={entry} />
                    </>
                  )}
                  <Text size="sm" c="dimmed" className="wraps">
                    <Inert>{`${why}. Do: ${advice}`}</Inert>
                  </Text>
                </List.Item>
              ))}
            </List>
          </>
        )}
      </Stack>
    </section>
  );
}

/** Opens a proposal at the present state of the entry's trajectory. */
function CorrectionLink({ entry }: { readonly entry: string }) {
  const trajectory = useEntry(entry).data?.trajectory_id;
  return trajectory === undefined ? null : <ProposalLink trajectory={trajectory} />;
}

function ProposalLink({ trajectory }: { readonly trajectory: string }) {
  const { data: head } = useHead(trajectory);
  if (head === undefined) return null;
  return (
    <Anchor
      component={Link}
      href={`${timelineHref(trajectory, head)}?view=try`}
      size="sm"
      underline="always"
    >
      propose a correction
    </Anchor>
  );
}

function StepText({ step }: { readonly step: Step }) {
  const { kind, trajectory, outcome, reason, ...rest } = step;
  const texts = rest as { readonly [name: string]: unknown };
  return (
    <>
      {outcome !== undefined && <strong>{outcome}: </strong>}
      {kind === 'revoke' && (
        <>
          Revoke the writ{' '}
          <code title={String(texts['writ'])}>{String(texts['writ']).slice(0, 12)}…</code> in{' '}
        </>
      )}
      {kind === 'halt' && 'Halt '}
      {(kind === 'withdraw' || kind === 'retract') && (
        <>
          {kind === 'withdraw' ? 'Withdraw ' : 'Retract '}
          <Inert>{`${texts['subject']} ${texts['predicate']} ${texts['object']}`}</Inert>
          {Boolean(texts['displaced']) && <Inert>{`, and give back ${texts['displaced']},`}</Inert>}{' '}
          in <Inert>{String(texts['space'])}</Inert> of{' '}
        </>
      )}
      <Inert>{trajectory}</Inert>
      {reason !== undefined && (
        <>
          : <Inert>{reason}</Inert>
        </>
      )}
    </>
  );
}
