import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { EntryLink, useEntry } from '../../parts/entry-link.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Ago, RowTime } from '../../parts/instant.tsx';
import { Part } from '../../parts/part.tsx';
import { type EntryDocument, payloadOf } from './entry-query.ts';
import {
  type CounselorRecord,
  isOfRuntime,
  type Payloads,
  type PolicyRecord,
  type VectorItem,
} from './payload.ts';
import { reasonText } from './reasons.ts';
import { Standing } from './standing.tsx';

/** The ruling of a proposal in words: the reason, the rule, the policy, and the people. */
export function Ruled({ entry }: { readonly entry: EntryDocument }) {
  const payload = payloadOf(entry, 'commit', 'rejection', 'pending_approval');
  if (payload === undefined) return null;
  const why = payload.kind === 'commit' ? undefined : payload;
  const vector = payload.kind === 'commit' ? (payload.detection_vector ?? []) : [];
  const approvers = [
    ...(payload.kind === 'rejection' ? [] : (payload.approved_by ?? [])),
    ...('counselor' in payload && payload.counselor !== undefined ? [payload.counselor] : []),
  ];
  return (
    <Part title={titleOf(payload.kind)}>
      {payload.kind === 'commit' && <Text size="sm">{allowedText(payload)}</Text>}
      {why !== undefined && (
        <Text size="sm">
          {capital(reasonText(why.reason))}: <Inert>{why.detail}</Inert>
        </Text>
      )}
      <Facts>
        {why?.invariant_id !== undefined && (
          <Fact name="Rule">
            <code>
              <Inert>{why.invariant_id}</Inert>
            </code>
          </Fact>
        )}
        {payload.kind === 'pending_approval' && (
          <>
            <Fact name="Channel">{payload.channel}</Fact>
            <Fact name="Approvals">{`${payload.approved_by?.length ?? 0} of ${payload.approvals ?? 1}`}</Fact>
            {payload.deputies?.map(({ of, kind, from }) => (
              <Fact key={of} name="Deputy">
                <Inert>{`${kind} for ${of}, from `}</Inert>
                <RowTime at={from} />
              </Fact>
            ))}
            {payload.expires !== undefined && (
              <Fact name="Expires">
                <Ago at={payload.expires} />
              </Fact>
            )}
            <Fact name="Now">
              <Standing id={entry.id} />
            </Fact>
          </>
        )}
        {payload.policy !== undefined && <Fact name="Policy">{policyText(payload.policy)}</Fact>}
        {vector.length > 0 && <Fact name="Rules">{countText(vector)}</Fact>}
        {approvers.map((one) => (
          <Approver key={`${one.principal} ${one.at}`} record={one} did={didOf(payload.kind)}>
            {payload.resolves !== undefined && <Deputy of={payload.resolves} as={one.as} />}
          </Approver>
        ))}
        {payload.resolves !== undefined && (
          <Fact name="Decides">
            <EntryLink id={payload.resolves} />
          </Fact>
        )}
      </Facts>
      <Findings items={vector.filter(({ result }) => result !== 'pass')} />
    </Part>
  );
}

interface ApproverProps {
  readonly record: CounselorRecord;
  readonly did: string;
  readonly children: ReactNode;
}

function Approver({ record, did, children }: ApproverProps) {
  const { principal, as, method, token_by, override, overridden = [], reason } = record;
  const made = token_by === undefined ? '' : ` made by ${token_by.join(', ')}`;
  return (
    <Fact name={did}>
      <Inert>{`${principal}, as ${as}, by ${method}${made}${override === true ? ', with override' : ''}`}</Inert>
      {children}
      {reason !== undefined && (
        <>
          : <Inert>{reason}</Inert>
        </>
      )}
      <Findings items={overridden} />
    </Fact>
  );
}

/** The kind for which a person decided as its deputy, by the entry of the request. */
function Deputy({ of: asked, as }: { readonly of: string; readonly as: string }) {
  const { data } = useEntry(asked);
  const { deputies = [] } = (data && payloadOf(data, 'pending_approval')) ?? {};
  const kinds = as.split('+');
  return deputies.map(
    ({ of, kind, from }) =>
      kinds.includes(kind) &&
      !kinds.includes(of) && (
        <span key={of}>
          <Inert>{`, the deputy of ${of} since `}</Inert>
          <RowTime at={from} />
        </span>
      ),
  );
}

function Findings({ items }: { readonly items: readonly VectorItem[] }) {
  return items.map(({ invariant_id, result, detail = '' }) => (
    <Text key={invariant_id} size="sm">
      <code>
        <Inert>{invariant_id}</Inert>
      </code>{' '}
      {result}s: <Inert>{detail}</Inert>
    </Text>
  ));
}

function titleOf(kind: 'commit' | 'rejection' | 'pending_approval'): string {
  if (kind === 'commit') return 'Why it was committed';
  return kind === 'rejection' ? 'Why it was rejected' : 'Why a person is asked';
}

function didOf(kind: string): string {
  return kind === 'rejection' ? 'Rejected by' : 'Approved by';
}

function allowedText({ action, counselor, approved_by = [] }: Payloads['commit']): string {
  if (isOfRuntime(action)) return 'The runtime made this entry itself.';
  if ([...approved_by, counselor].some((one) => one?.override === true))
    return 'Its writ and the policy allow it. An approver overrode rules of the domain.';
  return `Its writ, the policy and the rules of the domain allow it${counselor === undefined ? '' : ', and a person approved it'}.`;
}

function policyText({ decision, rule }: PolicyRecord): string {
  return `${decision.replaceAll('_', ' ')}${rule === undefined ? '' : `, by the rule ${rule}`}`;
}

function countText(vector: readonly VectorItem[]): string {
  const passed = vector.filter(({ result }) => result === 'pass').length;
  return `${passed} of ${vector.length} pass`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
