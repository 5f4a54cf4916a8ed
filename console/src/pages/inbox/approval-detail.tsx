import { Box, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { shownOf } from 'assize/internal/views/shown.ts';
import type { ReactNode } from 'react';
import { oneDecision } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { Approval } from '../../api/queries.ts';
import { BundleButton } from '../../parts/bundle-button.tsx';
import { Changes } from '../../parts/changes.tsx';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import { Part } from '../../parts/part.tsx';
import { isSameJson } from '../../parts/schema-form/same-json.ts';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { planOf } from '../incidents/plan-of.ts';
import { PlanText } from '../incidents/plan-text.tsx';
import { AllowMore } from '../standing/allow-more.tsx';
import { termsOf } from '../standing/like-calls.ts';
import { Meaning } from '../standing/meaning.tsx';
import { MINUTE_MS } from './approvals-query.ts';
import { DecisionCard } from './decision-card.tsx';
import { DecisionForm } from './decision-form.tsx';
import { GatedCall } from './gated-call.tsx';
import { gatedCallOf } from './gated-call-of.ts';
import { Observations } from './observations.tsx';
import { Questions } from './questions.tsx';
import { Statements } from './statements.tsx';
import { type DecisionDraft, useDecisionDraft } from './use-decision-draft.ts';

interface DetailProps {
  readonly id: string;
  readonly onDecided: () => void;
}

/** Everything that an approver signs: the calls, the changes and the cost, and why it waits. */
export default function ApprovalDetail({ id, onDecided }: DetailProps) {
  const found = useQuery({
    queryKey: ['log', 'approval', id],
    meta: oneDecision,
    queryFn: () =>
      dataOf(api.GET('/v1/approvals/{approval}', { params: { path: { approval: id } } })),
    refetchInterval: MINUTE_MS,
  });
  if (found.isPending) return <Loading what="the proposal" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  const { status, approval, ruling } = found.data;
  if (approval === undefined) return <Resolved id={id} status={status} ruling={ruling} />;
  return <Open key={approval.digest} approval={approval} onDecided={onDecided} />;
}

/** A proposal that waits, with the decision that is being written about it. */
function Open({
  approval,
  onDecided,
}: {
  readonly approval: Approval;
  readonly onDecided: () => void;
}) {
  const draft = useDecisionDraft(approval);
  return (
    <>
      <Shown approval={approval} draft={draft} />
      <Box mt="md">
        <AllowMore cards={[approval.card]} />
      </Box>
      <DecisionForm approval={approval} draft={draft} onDecided={onDecided} />
    </>
  );
}

/** A proposal that was decided meanwhile: how, and by which entry. */
function Resolved({
  id,
  status,
  ruling,
}: {
  readonly id: string;
  readonly status: string;
  readonly ruling: unknown;
}) {
  const {
    ruling: name,
    entry_id,
    calls = [],
  } = (ruling ?? {}) as {
    readonly ruling?: string;
    readonly entry_id?: string;
    readonly calls?: readonly {
      readonly id: string;
      readonly tool: string;
      readonly phase: string;
    }[];
  };
  return (
    <Empty
      title={status === 'void' ? 'This proposal is void' : `This proposal is decided: ${name}`}
    >
      {status === 'void' || entry_id === undefined ? (
        'Its trajectory was concluded or moved on, so no decision counts any more.'
      ) : (
        <Stack gap="sm" align="center">
          <span>
            Recorded by <EntryLink id={entry_id} />.
          </span>
          {calls.map(({ id, tool, phase }) => (
            <Inert key={id}>{`${tool}: ${phase}`}</Inert>
          ))}
          <BundleButton scope={{ approval: id }} />
        </Stack>
      )}
    </Empty>
  );
}

function Shown({
  approval,
  draft,
}: {
  readonly approval: Approval;
  readonly draft: DecisionDraft;
}) {
  const { action, trajectory_id, card, deciders, freezes, digest, observations } = approval;
  const { tools, changes, cost, statements, isAmended } = resultOf(approval, draft);
  const shown = isAmended ? { ...action, args: draft.amendment.args } : action;
  const gated = gatedCallOf(shown.name, shown.args);
  const standing = termsOf(shown);
  const plan = planOf({ trajectory_id, action: shown });
  const amended = isAmended ? shownOf(shown, approval.present) : undefined;
  const args = gated === undefined ? shown.args : gated.args;
  const [change, ...others] = changes ?? [];
  const isSameChange =
    others.length === 0 &&
    tools.some(({ input }) => input !== undefined && isSameJson(change?.['value'], input));
  const isTwin = (value: unknown): boolean => isSameJson(value, args);
  return (
    <Stack gap="lg">
      <DecisionCard card={card} amended={amended} />
      <Questions approval={approval} draft={draft} />
      {standing !== undefined && (
        <Part title="After the approval">
          <Meaning terms={standing} />
        </Part>
      )}
      {plan !== undefined && (
        <Part title={titled('After the approval', isAmended)}>
          <PlanText {...plan} />
        </Part>
      )}
      {gated !== undefined && (
        <GatedCall call={gated} title={titled('The agent makes this call, once', isAmended)} />
      )}
      {((gated === undefined && plan === undefined) || tools.length > 0) && (
        <Part
          title={titled(tools.length === 0 ? 'No tool is called' : 'Calls that run', isAmended)}
        >
          {tools.map((call, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two calls may be equal
            <div key={n}>
              <Text fw={600} size="sm">
                <Inert>{call.tool ?? 'a call that was erased'}</Inert>
              </Text>
              {gated !== undefined && isTwin(call.input) ? null : (
                <JsonText value={call.input ?? null} label={`Input of ${call.tool}`} />
              )}
            </div>
          ))}
        </Part>
      )}
      <Part
        title={titled(
          changes?.length === 0 ? 'The state does not change' : 'Changes of the state',
          isAmended,
        )}
      >
        {changes === null && <Text size="sm">The changes were erased.</Text>}
        {changes !== null && changes.length > 0 && (
          <Folded
            isFolded={gated !== undefined || isSameChange}
            name={gated === undefined ? 'The same values as the call' : 'The record of the call'}
          >
            <Changes trajectory={trajectory_id} changes={changes} />
          </Folded>
        )}
      </Part>
      <Statements statements={statements} isAmended={isAmended} />
      <Observations trajectory={trajectory_id} observations={observations} />
      {/* The one call has the same arguments. */}
      {!(tools.length === 1 && !isAmended && isTwin(tools[0]?.input)) && (
        <Part title={isAmended ? 'Proposed arguments' : 'Arguments'}>
          {action.args === undefined ? (
            <Text size="sm">The arguments were erased.</Text>
          ) : (
            <Folded isFolded name="As JSON">
              <JsonText value={action.args} label="Arguments" />
            </Folded>
          )}
        </Part>
      )}
      <Facts>
        {Object.keys(cost).length > 0 && (
          <Fact name={titled('Cost', isAmended)}>
            {Object.entries(cost)
              .map(([unit, amount]) => `${amount} ${unit}`)
              .join(', ')}
          </Fact>
        )}
        <Fact name="May decide">
          {deciders.length === 0 ? 'no principal of the configuration' : deciders.join(', ')}
        </Fact>
        <Fact name="Frozen meanwhile">
          {freezes === 'world' ? 'the whole state' : freezes.join(', ') || 'nothing'}
        </Fact>
        <Fact name="Digest">
          <code className="wraps">{digest}</code>
        </Fact>
      </Facts>
    </Stack>
  );
}

function Folded({
  isFolded,
  name,
  children,
}: {
  readonly isFolded: boolean;
  readonly name: string;
  readonly children: ReactNode;
}) {
  if (!isFolded) return children;
  return (
    <details>
      <summary>{name}</summary>
      {children}
    </details>
  );
}

function titled(title: string, isAmended: boolean): string {
  return isAmended ? `${title}, as amended` : title;
}

/** The result of the approval: as proposed, or of the judged amendment. */
function resultOf(
  { tools, changes, budget_cost }: Approval,
  { amendment, judgement: { judged } }: DecisionDraft,
) {
  const isForeseen = judged?.ruling === 'committed' || judged?.ruling === 'escalated';
  const statements = isForeseen ? judged.statements : [];
  if (!amendment.isChanged || !isForeseen)
    return { tools, changes, cost: budget_cost, statements, isAmended: false };
  return {
    tools: judged.calls,
    changes: judged.changes ?? [],
    cost: judged.cost,
    statements,
    isAmended: true,
  };
}
