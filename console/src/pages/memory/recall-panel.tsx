import { Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useLocation } from 'wouter';
import { Failed, Loading } from '../../parts/states.tsx';
import type { Change, MemoryAddress } from './address.ts';
import { FactRow, NoFacts } from './fact-list.tsx';
import classes from './memory-page.module.css';
import { type Fact, type Place, useRecall } from './memory-queries.ts';
import { QuestionForm, useQuestion } from './question-form.tsx';
import { nameOf } from './versions.ts';

interface RecallProps {
  readonly place: Place;
  readonly address: MemoryAddress;
  readonly onChange: (change: Change) => void;
  readonly hrefOf: (fact: Fact) => string;
}

/** The answers of the memory: believed as of one time, true at another, ranked for a text. */
export function RecallPanel({ place, address, onChange, hrefOf }: RecallProps) {
  const asked = useQuestion(address);
  return (
    <>
      <QuestionForm
        name="Recall"
        label="Text"
        placeholder="Words to rank by"
        address={address}
        onChange={onChange}
      />
      <Results place={place} asked={asked} open={address} hrefOf={hrefOf} />
    </>
  );
}

function Results({
  place,
  asked,
  open,
  hrefOf,
}: Omit<RecallProps, 'onChange' | 'address'> & {
  readonly asked: MemoryAddress;
  readonly open: MemoryAddress;
}) {
  const recalled = useRecall(place, asked);
  const [, navigate] = useLocation();
  const move = (by: number) => {
    const found = recalled.data?.facts ?? [];
    const at = found.findIndex(({ fact_id }) => fact_id === open.fact);
    const next = found[Math.min(Math.max(at + by, 0), found.length - 1)];
    if (next !== undefined) navigate(hrefOf(next));
  };
  useHotkeys([
    ['j', () => move(1)],
    ['k', () => move(-1)],
  ]);
  if (recalled.error !== null)
    return <Failed error={recalled.error} retry={() => void recalled.refetch()} />;
  if (recalled.data === undefined) return <Loading what="facts" />;
  const { facts, scores, is_truncated } = recalled.data;
  if (facts.length === 0) return <NoFacts />;
  return (
    <>
      <Text size="xs" c="dimmed" px="sm" py={6} role="status">
        {facts.length === 1 ? '1 fact' : `${facts.length} facts`}
        {is_truncated && ', and more'}
        {scores !== undefined && ', best first'}
      </Text>
      <ol className={classes.rows}>
        {facts.map((fact, n) => (
          <FactRow
            key={nameOf(fact)}
            fact={fact}
            href={hrefOf(fact)}
            isCurrent={fact.fact_id === open.fact}
          >
            {scores?.[n] !== undefined && (
              <Text size="xs" c="dimmed" component="span" className={classes.count}>
                score {scores[n].score.toFixed(2)}
              </Text>
            )}
          </FactRow>
        ))}
      </ol>
    </>
  );
}
