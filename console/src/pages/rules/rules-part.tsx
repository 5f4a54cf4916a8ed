import { Anchor, Table, Text } from '@mantine/core';
import { Link } from 'wouter';
import { timelineHref } from '../../parts/addresses.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { Part } from '../../parts/part.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { type RuleCount, useRulesReport } from './rules-query.ts';

const SAID: Readonly<Record<RuleCount['set'], Readonly<Record<RuleCount['ruling'], string>>>> = {
  force: { ask: 'asked', deny: 'refused' },
  observed: { ask: 'would have asked', deny: 'would have refused' },
  trial: { ask: 'the trial set would ask', deny: 'the trial set would refuse' },
};

/** The rules of a trajectory of tool calls that asked and refused, as a part of its page. */
export function RulesPart({ trajectory }: { readonly trajectory: string }) {
  return (
    <Part title="Rules in the last seven days">
      <RulesReport trajectory={trajectory} />
    </Part>
  );
}

export function RulesReport({ trajectory }: { readonly trajectory: string }) {
  const found = useRulesReport(trajectory);
  if (found.isPending) return <Loading what="the report" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  const { calls, rules, gaps } = found.data;
  return (
    <>
      {gaps.map((gap) => (
        <Text key={gap.seq} size="sm">
          <Anchor component={Link} href={timelineHref(gap.trajectory_id, gap.seq)} size="sm">
            No server recorded {gap.calls} observed calls
          </Anchor>
          , <Inert>{`${gap.from} to ${gap.to}`}</Inert>
        </Text>
      ))}
      {rules.length === 0 ? (
        <Text size="sm">No rule asked or refused, of {calls} judged calls.</Text>
      ) : (
        <Rules rules={rules} />
      )}
    </>
  );
}

function Rules({ rules }: { readonly rules: readonly RuleCount[] }) {
  return (
    <Table.ScrollContainer minWidth={420}>
      <Table fz="sm" aria-label="Rules that asked or refused">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Rule</Table.Th>
            <Table.Th>Answer</Table.Th>
            <Table.Th>Calls</Table.Th>
            <Table.Th>Tools</Table.Th>
            <Table.Th>Newest</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rules.map((count) => (
            <Row key={`${count.set} ${count.rule} ${count.ruling}`} count={count} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Row({
  count: { set, rule, text, ruling, calls, tools, examples },
}: {
  readonly count: RuleCount;
}) {
  const [newest] = examples;
  return (
    <Table.Tr>
      <Table.Td>
        <Inert>{rule}</Inert>
        <Text size="xs" c="dimmed" className="wraps">
          <Inert>{text ?? ''}</Inert>
        </Text>
      </Table.Td>
      <Table.Td>{SAID[set][ruling]}</Table.Td>
      <Table.Td>{calls}</Table.Td>
      <Table.Td className="wraps">
        <Inert>{Object.keys(tools).join(', ')}</Inert>
      </Table.Td>
      <Table.Td>
        {newest !== undefined && (
          <Anchor component={Link} href={timelineHref(newest.trajectory_id, newest.seq)} size="sm">
            <Inert>{newest.call ?? `${newest.trajectory_id}@${newest.seq}`}</Inert>
          </Anchor>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
