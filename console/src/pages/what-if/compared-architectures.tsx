import { Stack, Table, Text, Title } from '@mantine/core';
import { codeOf } from '../../api/problem.ts';
import { counted } from '../../parts/counted.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import classes from './architectures.module.css';
import { BrokenRule } from './broken-rule.tsx';
import { boundsText, type Comparison, type ComparisonTerms, useComparison } from './comparison.ts';

/** Runs a comparison, and shows its result. */
export function ComparedArchitectures({ terms }: { readonly terms: ComparisonTerms }) {
  const found = useComparison(terms);
  if (found.isPending) return <Loading what="the comparison" />;
  if (found.data !== undefined) return <Shown comparison={found.data} />;
  const code = codeOf(found.error);
  if (code !== 'no_proposals' && code !== 'bad_start')
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  return (
    <Empty title="No agent of this domain can begin">
      {code === 'no_proposals'
        ? 'No generated proposal changes the initial state. Proposals that call tools are left out. '
        : 'A rule does not pass on the initial state. '}
      Begin from another state with <code>assize compare --state FILE</code>.
    </Empty>
  );
}

function Shown({ comparison }: { readonly comparison: Comparison }) {
  const { domain, seed, contended_cases: contended, left_out: leftOut, architectures } = comparison;
  return (
    <Stack gap="md">
      <div role="status">
        <Title order={3} size="h6" className="wraps">
          <Inert>{`${domain.name}@${domain.version}`}</Inert> under {counted(architectures.length, 'architecture')}
        </Title>
        <Text size="sm" c="dimmed">
          Each ran {boundsText(comparison)}, from seed {seed}. {counted(contended, 'case')}{' '}
          {contended === 1 ? 'was' : 'were'} chosen because two proposals break a rule together, so the counts are no
          rates of a running system.
          {leftOut.length > 0 && ' Left out, because they call tools: '}
          {leftOut.length > 0 && <Inert>{`${leftOut.join(', ')}.`}</Inert>}
        </Text>
      </div>
      <Figures comparison={comparison} />
      {architectures.map(({ architecture, violations }) =>
        violations.length === 0 ? (
          <Text key={architecture} size="sm" component="article" aria-label={architecture}>
            <b>{architecture}</b>: no schedule broke a rule, in {boundsText(comparison)}.
          </Text>
        ) : (
          violations.map((violation) => (
            <BrokenRule
              key={`${architecture} ${violation.rule} ${violation.kind}`}
              architecture={architecture}
              violation={violation}
            />
          ))
        ),
      )}
    </Stack>
  );
}

/** A row for each architecture. */
function Figures({ comparison: { architectures } }: { readonly comparison: Comparison }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table
    <div className={classes.scroll} tabIndex={0}>
      <Table fz="sm" verticalSpacing={5} className={classes.figures} aria-label="Architectures">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Architecture</Table.Th>
            {['Schedules', 'Committed', 'Rejected', 'Escalated', 'Broken states'].map((title) => (
              <Table.Th key={title} scope="col">
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {architectures.map(({ architecture, broken_schedules: broken, ...counts }) => (
            <Table.Tr key={architecture}>
              <Table.Th scope="row">{architecture}</Table.Th>
              {[counts.schedules, counts.committed, counts.rejected, counts.escalated].map((count, n) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the columns have no other name
                <Table.Td key={n}>{count.toLocaleString('en')}</Table.Td>
              ))}
              <Table.Td>{broken === 0 ? 'none' : `in ${counted(broken, 'schedule')}`}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
