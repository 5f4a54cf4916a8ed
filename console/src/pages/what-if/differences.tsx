import { Anchor, Button, Table, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { useChoices } from '../../parts/address-choices.ts';
import { timelineHref } from '../../parts/addresses.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { useRowKeys } from '../../parts/row-keys.ts';
import classes from './backtest-result.module.css';
import { Ruled } from './ruled.tsx';
import { tallied, tallyKeyOf, type VerdictDifference } from './tallied.ts';
import { Tallies } from './tallies.tsx';

interface DifferencesProps {
  /** The first ones of all. */
  readonly differences: readonly VerdictDifference[];
  readonly count: number;
}

/** Rows that the list shows at first, and adds at each request. */
const PAGE = 100;

/** The counts of differences, and the entries. A count selects its entries. */
export function Differences({ differences, count }: DifferencesProps) {
  const [search, choose] = useChoices({ replace: false });
  const [shownMax, setShownMax] = useState(PAGE);
  const rows = useRowKeys<HTMLDivElement>();
  const tallies = tallied(differences);
  const only = tallies.find(({ key }) => key === search.get('only'));
  const listed =
    only === undefined ? differences : differences.filter((one) => tallyKeyOf(one) === only.key);
  const select = (key: string | undefined) => choose({ only: key });
  return (
    <>
      <section aria-label="Counts">
        <Title order={3} size="h6" mb={4}>
          By action and ruling
        </Title>
        {count > differences.length && (
          <Text size="sm" mb={4}>
            Counted and listed are the first {differences.length.toLocaleString('en')} of{' '}
            {count.toLocaleString('en')}. Choose a smaller range to see the others.
          </Text>
        )}
        <Tallies tallies={tallies} selected={only?.key} onSelect={select} />
      </section>
      <section aria-label="Entries that differ">
        <Title order={3} size="h6" mb={4}>
          Entries that differ{' '}
          <Text span size="sm" c="dimmed" fw={400}>
            {only === undefined ? listed.length : `${listed.length} of ${differences.length}`}
          </Text>
        </Title>
        <div className={classes.scroll} ref={rows}>
          <Table fz="sm" verticalSpacing={5} data-wide>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Entry</Table.Th>
                <Table.Th>Asked</Table.Th>
                <Table.Th>Then</Table.Th>
                <Table.Th>Now</Table.Th>
                <Table.Th>Why</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {listed.slice(0, shownMax).map((one) => (
                <Row key={one.entry_id} difference={one} />
              ))}
            </Table.Tbody>
          </Table>
        </div>
        {listed.length > shownMax && (
          <Button size="xs" variant="default" mt="xs" onClick={() => setShownMax(shownMax + PAGE)}>
            Show more
          </Button>
        )}
      </section>
    </>
  );
}

function Row({ difference }: { readonly difference: VerdictDifference }) {
  const { seq, action, title = action, recorded, now } = difference;
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor
          component={Link}
          href={timelineHref(difference.trajectory_id, difference.seq)}
          size="sm"
          underline="always"
          data-row
        >
          {seq}
        </Anchor>
      </Table.Td>
      <Table.Td className={classes.action}>
        <Inert>{title}</Inert>
      </Table.Td>
      <Table.Td>
        <Ruled ruled={recorded} />
      </Table.Td>
      <Table.Td>
        <Ruled ruled={now} />
      </Table.Td>
      <Table.Td>
        <Inert>{now.detail ?? ''}</Inert>
      </Table.Td>
    </Table.Tr>
  );
}
