import { Code, Text, Title } from '@mantine/core';
import { Fragment } from 'react';
import { Inert } from '../../parts/inert-text.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import type { Change, MemoryAddress } from './address.ts';
import { FactRow, NoFacts } from './fact-list.tsx';
import classes from './memory-page.module.css';
import { BUDGET, type Key, type Place, useAliases, useAnswers } from './memory-queries.ts';
import { QuestionForm, useQuestion } from './question-form.tsx';

interface AskProps {
  readonly place: Place;
  readonly address: MemoryAddress;
  readonly onChange: (change: Change) => void;
  readonly hrefOf: (key: Key) => string;
}

/** The memory as a chat agent asks it: facts for a question, and the text for its prompt. */
export function AskPanel({ place, address, onChange, hrefOf }: AskProps) {
  const asked = useQuestion(address);
  return (
    <>
      <QuestionForm
        name="Ask"
        label="Question"
        placeholder="As a person asks it; empty lists all"
        address={address}
        onChange={onChange}
      />
      <Answers place={place} asked={asked} hrefOf={hrefOf} />
      <Names place={place} />
    </>
  );
}

function Answers({
  place,
  asked,
  hrefOf,
}: Pick<AskProps, 'place' | 'hrefOf'> & { readonly asked: MemoryAddress }) {
  const answers = useAnswers(place, asked);
  if (answers.error !== null)
    return <Failed error={answers.error} retry={() => void answers.refetch()} />;
  if (answers.data === undefined) return <Loading what="facts" />;
  const { facts, context, tokens, next } = answers.data;
  if (facts.length === 0) return <NoFacts />;
  return (
    <>
      <Text size="xs" c="dimmed" px="sm" py={6} role="status">
        {facts.length === 1 ? '1 fact' : `${facts.length} facts`}
        {next !== undefined && ', and more'}
      </Text>
      <ol className={classes.rows}>
        {facts.map((fact) => (
          <FactRow key={`${fact.id} ${fact.recorded}`} fact={fact} href={hrefOf(statedKey(fact))}>
            {fact['contradicted_by'] !== undefined && (
              <Text size="xs" component="span" className={classes.count}>
                contested
              </Text>
            )}
          </FactRow>
        ))}
      </ol>
      <section aria-label="Text for a prompt">
        <Title order={2} size="h6" px="sm" pt="sm">
          Text for a prompt, {tokens} of {BUDGET} tokens
        </Title>
        <Code block m="sm" className={classes.prompt as string}>
          {context === '' ? 'No fact fits the budget.' : <Lines text={context} />}
        </Code>
      </section>
    </>
  );
}

/** Each line of a text on a line of its own. A fact never has a line break. */
function Lines({ text }: { readonly text: string }) {
  return text.split('\n').map((line, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be equal
    <Fragment key={n}>
      {n > 0 && '\n'}
      <Inert>{line}</Inert>
    </Fragment>
  ));
}

/** The key of a fact in the ledger. The ledger may use other names. */
function statedKey(fact: Key & { readonly [name: string]: unknown }): Key {
  const { subject, predicate } = (fact['stated'] as Key | undefined) ?? fact;
  return { subject, predicate };
}

/** Names that mean one thing. */
function Names({ place }: Pick<AskProps, 'place'>) {
  const aliases = useAliases(place);
  if (aliases.error !== null)
    return <Failed error={aliases.error} retry={() => void aliases.refetch()} />;
  const classesOfNames = [...(aliases.data?.names ?? []), ...(aliases.data?.predicates ?? [])];
  if (classesOfNames.length === 0) return null;
  return (
    <section aria-label="Names that mean one thing">
      <Title order={2} size="h6" px="sm" pt="sm">
        Names that mean one thing
      </Title>
      {classesOfNames.map(({ name, all }) => (
        <Text key={name} size="sm" px="sm" py={4} className="wraps">
          <Inert>{name}</Inert>:{' '}
          {all.slice(1).map((other, n) => (
            <span key={other}>
              {n > 0 && ', '}
              <Inert>{other}</Inert>
            </span>
          ))}
        </Text>
      ))}
    </section>
  );
}
