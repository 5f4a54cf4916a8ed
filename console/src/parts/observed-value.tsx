import { Text } from '@mantine/core';
import { recallOf } from 'assize/internal/views/recall-of.ts';
import { JsonText } from './json-text.tsx';
import { RecalledFact } from './recalled-fact.tsx';

interface ObservedProps {
  readonly trajectory: string;
  readonly name: string;
  readonly value: unknown;
}

/** The value of an observation. Of a recall: its facts with the way to them, and its question. */
export function ObservedValue({ trajectory, name, value }: ObservedProps) {
  const recall = recallOf({ name, value });
  const text = <JsonText value={value} label={`Observation ${name}`} />;
  if (recall === undefined) return text;
  return (
    <>
      {recall.versions.map((version) => (
        <RecalledFact
          key={`${version.fact} ${version.since}`}
          {...{ trajectory, space: recall.space, version }}
        />
      ))}
      <Text size="xs" c="dimmed">
        {recall.count === 1 ? '1 fact was recalled' : `${recall.count} facts were recalled`}
        {recall.count > recall.versions.length && `; the first ${recall.versions.length} are shown`}
      </Text>
      <details>
        <summary>
          <Text span size="xs">
            The question of the recall
          </Text>
        </summary>
        {text}
      </details>
    </>
  );
}
