import { Anchor, Text } from '@mantine/core';
import { useMemo } from 'react';
import { Inert } from '../../parts/inert-text.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import classes from './entry-panel.module.css';

/** A longer text takes too long to draw. */
const TEXT_MAX = 200_000;
const MEMBERS = 200;

interface LargeProps {
  readonly value: unknown;
  readonly label: string;
  readonly onOpen: (key: string) => void;
}

/** A JSON value. Of one that is too large for a text, the members can be opened. */
export function LargeJson({ value, label, onOpen }: LargeProps) {
  const isLarge = useMemo(() => JSON.stringify(value).length > TEXT_MAX, [value]);
  if (!isLarge || typeof value !== 'object' || value === null)
    return (
      <div className={classes.state}>
        <JsonText value={value} label={label} />
      </div>
    );
  const keys = Object.keys(value);
  return (
    <section aria-label={label}>
      <Text size="sm" mb="xs">
        The value is too large to show as one text. It has {keys.length} members
        {keys.length > MEMBERS && `, of which these are the first ${MEMBERS}`}:
      </Text>
      <ul className={classes.members}>
        {keys.slice(0, MEMBERS).map((key) => (
          <li key={key}>
            <Anchor component="button" type="button" size="sm" onClick={() => onOpen(key)}>
              <Inert>{key}</Inert>
            </Anchor>
          </li>
        ))}
      </ul>
    </section>
  );
}
