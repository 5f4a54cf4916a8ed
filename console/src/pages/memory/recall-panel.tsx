import { Group, Text, TextInput } from '@mantine/core';
import { useDebouncedValue, useHotkeys } from '@mantine/hooks';
import { Link, useLocation } from 'wouter';
import { CutText } from '../../parts/cut-text.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { periodText } from '../../parts/times.ts';
import type { Change, MemoryAddress } from './address.ts';
import classes from './memory-page.module.css';
import { type Fact, type Place, useRecall } from './memory-queries.ts';
import { TimeChoices } from './time-choices.tsx';
import { nameOf } from './versions.ts';

interface RecallProps {
  readonly place: Place;
  readonly address: MemoryAddress;
  readonly onChange: (change: Change) => void;
  readonly hrefOf: (fact: Fact) => string;
}

const PAUSE_MS = 250;

/** The answers of the memory: believed as of one time, true at another, ranked for a text. */
export function RecallPanel({ place, address, onChange, hrefOf }: RecallProps) {
  const { text, valid, system } = address;
  const [asked] = useDebouncedValue({ text, valid, system }, PAUSE_MS);
  return (
    <>
      <form className={classes.form} aria-label="Recall" onSubmit={(event) => event.preventDefault()}>
        <TextInput
          size="xs"
          label="Text"
          placeholder="Words to rank by"
          value={text ?? ''}
          onChange={(event) => onChange({ text: event.currentTarget.value })}
        />
        <TimeChoices address={address} onChange={onChange} />
      </form>
      <Results place={place} asked={asked as MemoryAddress} open={address} hrefOf={hrefOf} />
    </>
  );
}

function Results({
  place,
  asked,
  open,
  hrefOf,
}: Omit<RecallProps, 'onChange' | 'address'> & { readonly asked: MemoryAddress; readonly open: MemoryAddress }) {
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
  if (recalled.error !== null) return <Failed error={recalled.error} retry={() => void recalled.refetch()} />;
  if (recalled.data === undefined) return <Loading what="facts" />;
  const { facts, scores, is_truncated } = recalled.data;
  if (facts.length === 0)
    return <Empty title="Nothing is recalled">No fact matches as of these times. Try “True at any time”.</Empty>;
  return (
    <>
      <Text size="xs" c="dimmed" px="sm" py={6} role="status">
        {facts.length === 1 ? '1 fact' : `${facts.length} facts`}
        {is_truncated && ', and more'}
        {scores !== undefined && ', best first'}
      </Text>
      <ol className={classes.rows}>
        {facts.map((fact, n) => (
          <li key={nameOf(fact)}>
            <Link
              href={hrefOf(fact)}
              className={classes.row as string}
              aria-current={fact.fact_id === open.fact ? 'true' : undefined}
            >
              <Group justify="space-between" gap="xs" wrap="nowrap">
                <CutText size="sm" fw={600} lines={2}>
                  <Inert>{fact.object}</Inert>
                </CutText>
                {scores?.[n] !== undefined && (
                  <Text size="xs" c="dimmed" component="span" className={classes.count}>
                    score {scores[n].score.toFixed(2)}
                  </Text>
                )}
              </Group>
              <Text size="xs" c="dimmed" component="span" display="block">
                <Inert>{fact.subject}</Inert> · <Inert>{fact.predicate}</Inert> ·{' '}
                {periodText(fact.valid_from, fact.valid_to)}
              </Text>
            </Link>
          </li>
        ))}
      </ol>
    </>
  );
}
