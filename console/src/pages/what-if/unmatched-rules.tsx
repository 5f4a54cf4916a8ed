import { Alert, Text } from '@mantine/core';
import { useDomainOf } from '../../api/domain-query.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { unmatched } from './unmatched.ts';

interface RulesProps {
  readonly trajectory: string;
  /** The rule table of the request. */
  readonly rules: unknown;
}

/** The rules of a tried table that can match no proposal, because their actions do not exist. */
export function UnmatchedRules({ trajectory, rules }: RulesProps) {
  const domain = useDomainOf(trajectory, rules !== undefined);
  if (domain.data === undefined) return null;
  const actions = domain.data.actions.map(({ name }) => name);
  const found = unmatched(rules, actions);
  if (found.length === 0) return null;
  return (
    <Alert color="yellow" variant="outline" role="alert">
      <Text size="sm" fw={600}>
        A rule names an action that the domain does not have
      </Text>
      {found.map(({ rule, pattern }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a table can name the same twice
        <Text key={n} size="sm" className="wraps">
          Rule <Inert>{rule}</Inert>: the domain has no action <Inert>{pattern}</Inert>, so no
          proposal matched it.
        </Text>
      ))}
      <Text size="sm" mt={4} className="wraps">
        Actions of the domain: <Inert>{actions.join(', ')}</Inert>.
      </Text>
    </Alert>
  );
}
