import { Group, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { api, dataOf } from '../../api/client.ts';
import { argsSchemaOf, type Domain, useDomainOf } from '../../api/domain-query.ts';
import { Changes } from '../../parts/changes.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import { type Judgement, JudgementLine } from '../../parts/judgement.tsx';
import { Part } from '../../parts/part.tsx';
import { type FormView, SchemaForm } from '../../parts/schema-form/schema-form.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { askedOf } from './asked-of.ts';
import { amountsText } from './authority.tsx';
import { type EntryDocument, payloadOf, valueAt } from './entry-query.ts';
import { MakeProposal } from './make-proposal.tsx';
import { rolesFor, type Trial, trialIn, withAction, withParams } from './trial.ts';
import { useTrialJudgement } from './use-trial-judgement.ts';

/** Another proposal at this point of the past: its ruling, and what it would have changed. */
export function TryProposal({ entry }: { readonly entry: EntryDocument }) {
  const { trajectory_id: trajectory } = entry;
  const domain = useDomainOf(trajectory);
  const writs = useQuery({
    queryKey: ['writs', trajectory],
    queryFn: () =>
      dataOf(api.GET('/v1/trajectories/{trajectory}/writs', { params: { path: { trajectory } } })),
  });
  const error = domain.error ?? writs.error;
  if (error !== null) return <Failed error={error} retry={() => void domain.refetch()} />;
  if (domain.data === undefined || writs.data === undefined) return <Loading what="the actions" />;
  const agents = writs.data.writs.filter(
    ({ writ, principal }) => principal !== null && principal === writ.subject,
  );
  const principals = [...new Set(agents.map(({ writ }) => writ.subject))];
  if (principals.length === 0)
    return (
      <Empty title="No agent of the configuration has acted here">
        A proposal is judged under the grant of an agent, and this world has none yet.
      </Empty>
    );
  const own = agents.find(({ id }) => id === writIdOf(entry))?.writ.subject;
  return <TrialForm entry={entry} domain={domain.data} principals={principals} own={own} />;
}

function writIdOf(entry: EntryDocument): string | undefined {
  return (
    payloadOf(entry, 'pending_approval')?.proposal.writ_id ??
    payloadOf(entry, 'commit', 'rejection')?.writ_id
  );
}

interface FormProps {
  readonly entry: EntryDocument;
  readonly domain: Domain;
  /** The agents that have acted in the trajectory. */
  readonly principals: readonly string[];
  /** The agent of the entry's own proposal. */
  readonly own: string | undefined;
}

function TrialForm({ entry, domain, principals, own }: FormProps) {
  const { trajectory_id: trajectory, seq } = entry;
  const [search] = useSearchParams();
  const [trial, setTrial] = useState(() => {
    const principal = own ?? principals[0] ?? '';
    return trialIn(search.get('propose'), principal, domain) ?? begunAs(entry, domain, principal);
  });
  const [view, setView] = useState<FormView>('form');
  const { judged, isOld, isUnreadable, error } = useTrialJudgement(trajectory, seq, trial);
  const set = (change: Partial<Trial>) => setTrial({ ...trial, ...change });
  const schema = argsSchemaOf(domain, trial.action);
  const findings = judged !== undefined && 'findings' in judged ? (judged.findings ?? []) : [];
  return (
    <Stack gap="md">
      {seq > 0 && (
        <Group>
          <SegmentedControl
            size="xs"
            aria-label="The state that it is judged on"
            value={trial.isBefore ? 'before' : 'after'}
            onChange={(next) => set({ isBefore: next === 'before' })}
            data={[
              { value: 'before', label: 'Before this entry' },
              { value: 'after', label: 'After this entry' },
            ]}
          />
        </Group>
      )}
      <Proposer trial={trial} domain={domain} principals={principals} onChange={setTrial} />
      {trial.action !== '' && (
        <SchemaForm
          title="Arguments"
          schema={schema ?? {}}
          value={trial.args}
          onChange={(args) => set({ args })}
          findings={findings}
          view={view}
          onView={setView}
        />
      )}
      {trial.action !== '' && (
        <Part title="Ruling">
          <Text size="sm" c="dimmed">
            This try records nothing and calls no tool.
          </Text>
          <JudgementLine
            judged={judged}
            isOld={isOld}
            isUnreadable={isUnreadable}
            error={error}
            committed="Would be committed"
          />
          <Foreseen
            trajectory={trajectory}
            at={`${trajectory}@${trial.isBefore ? seq - 1 : seq}`}
            judged={judged}
          />
          <MakeProposal trajectory={trajectory} trial={trial} />
        </Part>
      )}
    </Stack>
  );
}

/** The entry's own proposal, or none. The person writes an erased value again. */
function begunAs(entry: EntryDocument, domain: Domain, principal: string): Trial {
  const asked = askedOf(entry);
  const none: Trial = {
    principal,
    action: '',
    role: { name: '', params: {} },
    args: {},
    isBefore: false,
  };
  if (asked === undefined || argsSchemaOf(domain, asked.action) === undefined) return none;
  const held = valueAt(entry, asked.argsAt, asked.args);
  const blank = withAction(
    { ...none, role: asked.role, isBefore: entry.seq > 0 },
    domain,
    asked.action,
  );
  return { ...blank, role: asked.role, args: 'value' in held ? held.value : blank.args };
}

interface ProposerProps {
  readonly trial: Trial;
  readonly domain: Domain;
  readonly principals: readonly string[];
  readonly onChange: (next: Trial) => void;
}

/** The agent, its action and its role. */
function Proposer({ trial, domain, principals, onChange }: ProposerProps) {
  const roles = rolesFor(domain, trial.action);
  const setRole = (role: Trial['role']) => onChange({ ...trial, role });
  return (
    <Stack gap="xs">
      <Group grow gap="xs" align="flex-start">
        <Select
          size="xs"
          label="Agent"
          data={[...principals]}
          allowDeselect={false}
          value={trial.principal}
          onChange={(principal) => onChange({ ...trial, principal: principal ?? trial.principal })}
        />
        <Select
          size="xs"
          label="Action"
          placeholder="Choose an action"
          data={domain.actions.map(({ name }) => name)}
          searchable
          allowDeselect={false}
          value={trial.action === '' ? null : trial.action}
          onChange={(action) => action !== null && onChange(withAction(trial, domain, action))}
        />
        {roles.length > 1 && (
          <Select
            size="xs"
            label="Role"
            data={roles.map(({ name }) => name)}
            allowDeselect={false}
            value={trial.role.name}
            onChange={(name) =>
              setRole(
                withParams(
                  roles.find((role) => role.name === name),
                  trial.role.params,
                ),
              )
            }
          />
        )}
      </Group>
      {Object.entries(trial.role.params).map(([name, value]) => (
        <TextInput
          size="xs"
          key={name}
          label={<Inert>{`${name} of the role ${trial.role.name}`}</Inert>}
          value={value}
          onChange={({ currentTarget }) =>
            setRole({
              ...trial.role,
              params: { ...trial.role.params, [name]: currentTarget.value },
            })
          }
        />
      ))}
    </Stack>
  );
}

/** The content of the entry that would have been made. */
function Foreseen({
  trajectory,
  at,
  judged,
}: {
  readonly trajectory: string;
  readonly at: string;
  readonly judged: Judgement | undefined;
}) {
  if (judged?.ruling !== 'committed' && judged?.ruling !== 'escalated') return null;
  const { changes = [], calls, cost } = judged;
  return (
    <Stack gap="xs">
      {changes.length === 0 ? (
        <Text size="sm">The state does not change.</Text>
      ) : (
        <Changes trajectory={trajectory} changes={changes} at={at} />
      )}
      {calls.map((call, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two calls may be equal
        <div key={n}>
          <Text fw={600} size="sm">
            <Inert>{call.tool}</Inert>
          </Text>
          <JsonText value={call.input ?? null} label={`Input of ${call.tool}`} />
        </div>
      ))}
      <Text size="sm">{`Cost: ${amountsText(cost)}`}</Text>
    </Stack>
  );
}
