import { Group, Text, UnstyledButton } from '@mantine/core';
import { counted } from '../../parts/counted.ts';
import { CutText } from '../../parts/cut-text.tsx';
import { World } from '../../parts/halted.tsx';
import { Inert, Words } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import classes from '../../parts/rows.module.css';
import type { Transaction } from './effects-query.ts';
import { FateMark } from './fate-mark.tsx';
import { countFates, stateOf } from './fates.ts';

interface ListProps {
  readonly transactions: readonly Transaction[];
  readonly openEpoch: string | undefined;
  readonly onOpen: (epoch: string) => void;
}

/** Transactions with their calls in words, state, age and fates, the latest first. */
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
  const { epoch, trajectory_id, principal, at, effects } = transaction;
  const failures = effects.reduce((sum, one) => sum + one.failures, 0);
  return (
    <UnstyledButton
      className={classes.row}
      data-open={isOpen || undefined}
      aria-current={isOpen ? 'true' : undefined}
      onClick={() => onOpen(`${epoch}`)}
    >
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <CutText fw={600} size="sm">
          <Words>{wordsOf(transaction)}</Words>
        </CutText>
        {at !== undefined && (
          <Text size="xs" c="dimmed" className={classes.aside}>
            <Ago at={at} />
          </Text>
        )}
      </Group>
      <Group justify="space-between" gap="0 12px">
        <CutText size="xs" c="dimmed">
          <Inert>{stateOf(transaction)}</Inert> · <Inert>{principal}</Inert> in{' '}
          <World id={trajectory_id} />
          {failures > 0 && ` · ${failedText(failures)}`}
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

/** A transaction as its domain says it, or else its first call and the number of others. */
export function wordsOf({ title, effects }: Pick<Transaction, 'title' | 'effects'>): string {
  const [first, ...others] = effects;
  if (title !== undefined) return title;
  if (first === undefined) return 'no call yet';
  const more = others.length === 0 ? '' : `, and ${counted(others.length, 'more call')}`;
  return `${first.title ?? first.tool}${more}`;
}

export function failedText(failures: number): string {
  return `${counted(failures, 'attempt')} failed`;
}
