import { List, Text } from '@mantine/core';
import { Inert } from '../../parts/inert-text.tsx';
import { At } from '../../parts/instant.tsx';
import { amountsText } from './like-calls.ts';
import type { StandingTerms } from './standing-query.ts';

/** The terms in plain words, and the calls that are never covered. */
export function Meaning({ terms }: { readonly terms: StandingTerms }) {
  const { agent, tools, uses, amounts, expires } = terms;
  const spent = amountsText(amounts);
  return (
    <section aria-label="What it covers">
      <Text size="sm">
        <Inert>{agent}</Inert> may make up to {uses} {uses === 1 ? 'call' : 'calls'} of{' '}
        <Inert>{tools.join(', ')}</Inert> without a person, until <At at={expires} />
        {spent !== '' && (
          <>
            , together for at most <Inert>{spent}</Inert>
          </>
        )}
        . Each is listed, and it can be ended at any time.
      </Text>
      <Text size="sm" mt={4}>
        It never covers:
      </Text>
      <List size="sm">
        <List.Item>rules that need two people, or that say so (standing: false)</List.Item>
        <List.Item>unknown tools, and tools whose definition has changed</List.Item>
        <List.Item>
          calls that wait already: they are decided one by one, and use nothing up
        </List.Item>
      </List>
    </section>
  );
}
