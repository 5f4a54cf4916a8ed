import { List, Text } from '@mantine/core';
import { EntryLink, type EntryPlace } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { localInstant, periodText } from '../../parts/times.ts';
import classes from './memory-page.module.css';
import type { Contradiction } from './memory-queries.ts';
import { strategyText } from './strategy-words.ts';

type Entry = EntryPlace & { readonly id: string };

interface TextProps {
  readonly of: Contradiction;
  /** The claim that the page shows. */
  readonly claim: string;
  readonly entries: readonly Entry[];
}

/** A contradiction: its candidates, the winner, and the rule or person that decided. */
export function ContradictionText({ of: { fact, witness, decided }, claim, entries }: TextProps) {
  const when = `true ${periodText(fact.valid_from, fact.valid_to)}, decided at ${localInstant(fact.system_time_start)}`;
  if (witness === 'erased')
    return (
      <Text size="sm">
        <b>Erased</b>: the decision about what is {when}. The candidates are no longer readable.
      </Text>
    );
  const outcome =
    witness.winner === claim ? 'Won' : witness.loser === claim ? 'Lost' : 'Decided between others';
  return (
    <div className={classes.contradiction} data-outcome={outcome}>
      <Text size="sm">
        <b>{outcome}</b>, for what is {when}. {strategyText(witness.strategy)}
        {witness.policy !== undefined && (
          <>
            {' '}
            The policy: <Inert>{witness.policy}</Inert>.
          </>
        )}
      </Text>
      {decided !== undefined && (
        <Text size="sm">
          Decided by <Inert>{decided.principal}</Inert> as <Inert>{decided.as}</Inert> in{' '}
          <EntryLink id={decided.entry} place={entries.find(({ id }) => id === decided.entry)} />.
        </Text>
      )}
      <List size="sm" spacing={2}>
        {witness.members.map((member) => (
          <List.Item key={member.claim}>
            <Inert>{member.object}</Inert>, confidence {member.confidence}
            {member.claim === witness.winner && ', the winner'}
            {member.claim === witness.loser && ', the loser'}
          </List.Item>
        ))}
      </List>
    </div>
  );
}
