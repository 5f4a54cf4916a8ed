import { Text } from '@mantine/core';
import type { Approval } from '../../api/queries.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { ObservedValue } from '../../parts/observed-value.tsx';
import { Part } from '../../parts/part.tsx';
import { withoutTrace } from '../../parts/without-trace.ts';

interface ObservationsProps {
  readonly trajectory: string;
  readonly observations: Approval['observations'];
}

/** The values that the agent had seen or recalled, with the way to the facts. */
export function Observations({ trajectory, observations }: ObservationsProps) {
  const seen = withoutTrace(observations);
  if (seen.length === 0) return null;
  return (
    <Part title="What the agent had observed">
      {seen.map((one, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two observations may be equal
        <Observed key={n} trajectory={trajectory} observation={one} />
      ))}
    </Part>
  );
}

interface ObservedProps {
  readonly trajectory: string;
  readonly observation: Approval['observations'][number];
}

function Observed({ trajectory, observation }: ObservedProps) {
  const { name, value, oracle_key } = observation;
  return (
    <div>
      <Text size="sm" fw={600}>
        <Inert>{name}</Inert>
      </Text>
      {oracle_key !== undefined ? (
        <Text size="sm">{`The answer ${oracle_key.slice(0, 12)}… of an oracle.`}</Text>
      ) : value === undefined ? (
        <Text size="sm">The value was erased.</Text>
      ) : (
        <ObservedValue {...{ trajectory, name, value }} />
      )}
    </div>
  );
}
