import { Anchor, List, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { proposalHref } from '../../parts/addresses.ts';
import { EntryLink, useEntry } from '../../parts/entry-link.tsx';
import { Inert, Words } from '../../parts/inert-text.tsx';
import { type Asked as AskedProposal, askedOf } from '../timeline/asked-of.ts';
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
              {remains.map(({ what, entry, why, advice }) => (
                <List.Item key={`${what} ${entry}`}>
                  {entry !== undefined && <Asked entry={entry} />}
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

/** The words of an entry before what remains of it: `Pay carla €1,240.00: `. */
function Asked({ entry }: { readonly entry: string }) {
  const { title } = useEntry(entry).data ?? {};
  if (title === undefined) return null;
  return (
    <>
      <b>
        <Words>{title}</Words>
      </b>
      :{' '}
    </>
  );
}

/** Opens the proposal of an entry at the present state, to be changed into its correction. */
function CorrectionLink({ entry }: { readonly entry: string }) {
  const { data } = useEntry(entry);
  const asked = data && askedOf(data);
  return asked === undefined ? null : (
    <ProposalLink trajectory={data!.trajectory_id} asked={asked} />
  );
}

function ProposalLink({
  trajectory,
  asked,
}: {
  readonly trajectory: string;
  readonly asked: AskedProposal;
}) {
  const { data: head } = useHead(trajectory);
  if (head === undefined) return null;
  const { action, role, args } = asked;
  return (
    <Anchor
      component={Link}
      href={proposalHref(trajectory, head, { action, role, args } as never)}
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
