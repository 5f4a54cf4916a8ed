import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Approval } from '../../api/queries.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import { Part } from '../../parts/part.tsx';
import { recallOf } from './recall-of.ts';

interface ObservationsProps {
  readonly trajectory: string;
  readonly observations: Approval['observations'];
}

/** The values that the agent had seen or recalled, with the way to the facts. */
export function Observations({ trajectory, observations }: ObservationsProps) {
  if (observations.length === 0) return null;
  return (
    <Part title="What the agent had observed">
      {observations.map((one, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two observations may be equal
        <Observed key={n} trajectory={trajectory} observation={one} />
      ))}
    </Part>
  );
}

function Observed({
  trajectory,
  observation,
}: {
  readonly trajectory: string;
  readonly observation: Approval['observations'][number];
}) {
  const { name, value, oracle_key } = observation;
  const recall = recallOf(trajectory, observation);
  return (
    <div>
      <Text size="sm" fw={600}>
        <Inert>{name}</Inert>
      </Text>
      {recall !== undefined && (
        <Text size="sm" mb={4}>
          {recall.count === 1 ? '1 fact was found. ' : `${recall.count} facts were found. `}
          <Anchor component={Link} href={recall.href} size="sm">
            The same recall now
          </Anchor>
          {recall.facts.map(({ id, href }) => (
            <span key={href}>
              {', '}
              <Anchor component={Link} href={href} size="sm">
                {`fact ${id.slice(0, 8)}`}
              </Anchor>
            </span>
          ))}
        </Text>
      )}
      {oracle_key !== undefined ? (
        <Text size="sm">{`The answer ${oracle_key.slice(0, 12)}… of an oracle.`}</Text>
      ) : value === undefined ? (
        <Text size="sm">The value was erased.</Text>
      ) : (
        <JsonText value={value} label={`Observation ${name}`} />
      )}
    </div>
  );
}
