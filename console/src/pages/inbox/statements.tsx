import { Text } from '@mantine/core';
import { Inert } from '../../parts/inert-text.tsx';
import type { Judgement } from '../../parts/judgement.tsx';
import { Part } from '../../parts/part.tsx';

type Statement = Extract<Judgement, { ruling: 'committed' }>['statements'][number];

interface StatementsProps {
  readonly statements: readonly Statement[];
  readonly isAmended: boolean;
}

/** The beliefs that the commit would change. */
export function Statements({ statements, isAmended }: StatementsProps) {
  if (statements.length === 0) return null;
  return (
    <Part title={isAmended ? 'Beliefs that change, as amended' : 'Beliefs that change'}>
      {statements.map((statement, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two statements may be equal
        <Text key={n} size="sm">
          <Inert>{sentenceOf(statement)}</Inert>
        </Text>
      ))}
    </Part>
  );
}

const VERBS: Readonly<Record<string, string>> = {
  assert: 'States',
  change: 'Changes',
  correct: 'Corrects',
  retract: 'Retracts',
  withdraw: 'Withdraws a source from',
};

function sentenceOf({
  verb,
  subject = '',
  predicate = '',
  object,
  valid,
  ...rest
}: Statement): string {
  const text =
    object === undefined
      ? ''
      : ` = ${typeof object === 'string' ? object : JSON.stringify(object)}`;
  const from = valid?.from ?? rest['from'];
  const times = [
    typeof from === 'string' && `from ${from}`,
    valid?.to !== undefined && `until ${valid.to}`,
    rest['ends'] === true && 'which ends then',
  ].filter((time) => typeof time === 'string');
  const when = times.length === 0 ? '' : `, valid ${times.join(' ')}`;
  return `${VERBS[verb] ?? verb} ${subject} ${predicate}${text}${when}`;
}
