import { Table, UnstyledButton } from '@mantine/core';
import { Inert } from '../../parts/inert-text.tsx';
import { RulingMark } from '../../parts/ruling-mark.tsx';
import classes from './backtest-result.module.css';
import type { Tally } from './tallied.ts';

interface TalliesProps {
  readonly tallies: readonly Tally[];
  readonly selected: string | undefined;
  readonly onSelect: (key: string | undefined) => void;
}

/** The counts by action and ruling. A selected one limits the list of entries. */
export function Tallies({ tallies, selected, onSelect }: TalliesProps) {
  return (
    <div className={classes.scroll}>
      <Table fz="sm" verticalSpacing={5} highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Action</Table.Th>
            <Table.Th>Then</Table.Th>
            <Table.Th>Now</Table.Th>
            <Table.Th className={classes.number}>Count</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tallies.map(({ key, action, recorded, now, count }) => (
            <Table.Tr key={key} className={key === selected ? classes.chosen : undefined}>
              <Table.Td>
                <UnstyledButton
                  fz="sm"
                  td="underline"
                  aria-pressed={key === selected}
                  title={key === selected ? 'List all entries' : 'List only these entries'}
                  onClick={() => onSelect(key === selected ? undefined : key)}
                >
                  <Inert>{action}</Inert>
                </UnstyledButton>
              </Table.Td>
              <Table.Td>
                <RulingMark ruling={recorded} />
              </Table.Td>
              <Table.Td>
                <RulingMark ruling={now} />
              </Table.Td>
              <Table.Td className={classes.number}>{count.toLocaleString('en')}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
