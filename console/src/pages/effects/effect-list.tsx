import { Group, Text, UnstyledButton } from '@mantine/core';
import { CutText } from '../../parts/cut-text.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import classes from '../../parts/rows.module.css';
import type { Transaction } from './effects-query.ts';
import { FateMark } from './fate-mark.tsx';
import { countFates, stateOf } from './fates.ts';

interface ListProps {
  readonly transactions: readonly Transaction[];
  readonly openEpoch: string | undefined;
  readonly onOpen: (epoch: string) => void;
}

/** Transactions with their calls, state and fates, the latest first. */
export function EffectList({ transactions, openEpoch, onOpen }: ListProps) {
  return (
    <ul className={classes.rows}>
      {transactions.map((transaction) => (
        <li key={transaction.epoch}>
          <Row
            transaction={transaction}
            isOpen={`${transaction.epoch}` === openEpoch}
            onOpen={onOpen}
          />
        </li>
      ))}
    </ul>
  );
}

interface RowProps extends Pick<ListProps, 'onOpen'> {
  readonly transaction: Transaction;
  readonly isOpen: boolean;
}

function Row({ transaction, isOpen, onOpen }: RowProps) {
  const { epoch, trajectory_id, principal, effects } = transaction;
  return (
    <UnstyledButton
      className={classes.row}
      data-open={isOpen || undefined}
      aria-current={isOpen ? 'true' : undefined}
      onClick={() => onOpen(`${epoch}`)}
    >
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <CutText fw={600} size="sm">
          {effects.length === 0 ? 'no call yet' : <Inert>{toolsOf(transaction)}</Inert>}
        </CutText>
        <Text size="xs" c="dimmed" className={classes.aside}>
          epoch {epoch}
        </Text>
      </Group>
      <Group justify="space-between" gap="0 12px">
        <CutText size="xs" c="dimmed">
          <Inert>{stateOf(transaction)}</Inert> · <Inert>{principal}</Inert> in{' '}
          <Inert>{trajectory_id}</Inert>
        </CutText>
        <Group gap="0 12px">
          {countFates(transaction).map(({ count, ...fate }) => (
            <FateMark key={fate.word} fate={fate} count={count} />
          ))}
        </Group>
      </Group>
    </UnstyledButton>
  );
}

/** `bank.pay ×3, mail.send` */
export function toolsOf({ effects }: Pick<Transaction, 'effects'>): string {
  const counts = new Map<string, number>();
  for (const { tool } of effects) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  return [...counts].map(([tool, count]) => (count === 1 ? tool : `${tool} ×${count}`)).join(', ');
}
