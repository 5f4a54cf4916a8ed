import { Anchor, List, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { proposalHref } from '../../parts/addresses.ts';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Inert, Words } from '../../parts/inert-text.tsx';
import { askedOf } from '../timeline/asked-of.ts';
import { useHead } from '../timeline/entries-query.ts';
import { useEntry, valueAt } from '../timeline/entry-query.ts';
import type { Plan, Step } from './incidents-query.ts';
import classes from './plan-text.module.css';
import { Rows } from './rows.tsx';

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
            <Rows rows={remains} spacing={4}>
              {(item) => (
                <List.Item key={`${item.what} ${item.entry}`}>
                  <Remaining item={item} />
                </List.Item>
              )}
            </Rows>
          </>
        )}
      </Stack>
    </section>
  );
}

/** A remaining item, after the words of its entry: `Pay carla €1,240.00: the call …`. */
function Remaining({ item }: { readonly item: Plan['remains'][number] }) {
  const { what, entry, why, advice } = item;
  return (
    <>
      {entry === undefined ? <What what={what} /> : <Derived id={entry} what={what} />}
      <Text size="sm" c="dimmed" className="wraps">
        <Inert>{`${why}. Do: ${advice}`}</Inert>
      </Text>
    </>
  );
}

function What({ what }: { readonly what: string }) {
  return <Inert>{what.replace(HASH, (hash) => `${hash.slice(0, 12)}…`)}</Inert>;
}

/** Its proposal opens at the present state, to be changed into a correction. */
function Derived({ id, what }: { readonly id: string; readonly what: string }) {
  const { data } = useEntry(id);
  const asked = data && askedOf(data);
  const args = asked && valueAt(data, asked.argsAt, asked.args);
  return (
    <>
      {data?.title !== undefined && (
        <>
          <b>
            <Words>{data.title}</Words>
          </b>
          :{' '}
        </>
      )}
      <What what={what} />,{' '}
      <EntryLink id={id} place={data && { trajectoryId: data.trajectory_id, seq: data.seq }} />
      {data && asked && args && 'value' in args && (
        <>
          ,{' '}
          <ProposalLink
            trajectory={data.trajectory_id}
            proposal={{ action: asked.action, role: asked.role, args: args.value }}
          />
        </>
      )}
    </>
  );
}

interface ProposalLinkProps {
  readonly trajectory: string;
  readonly proposal: Parameters<typeof proposalHref>[2];
}

function ProposalLink({ trajectory, proposal }: ProposalLinkProps) {
  const { data: head } = useHead(trajectory);
  if (head === undefined) return null;
  return (
    <Anchor
      component={Link}
      href={proposalHref(trajectory, head, proposal)}
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
