import { Kbd } from '@mantine/core';
import { Fragment } from 'react';
import classes from './key-legend.module.css';

/** An effect with its keys. */
type KeyEffect = readonly [effect: string, ...keys: string[]];

/** The keys of every list. */
export const MOVES: readonly KeyEffect[] = [
  ['next and previous', 'j', 'k'],
  ['back to the list', 'Esc'],
];

interface KeyLegendProps {
  readonly keys: readonly KeyEffect[];
}

/** The keys of a page, where nothing is chosen yet. */
export function KeyLegend({ keys }: KeyLegendProps) {
  return (
    <dl className={classes.keys} aria-label="Keys">
      {keys.map(([effect, ...names]) => (
        <Fragment key={effect}>
          <dt>
            {names.map((name) => (
              <Kbd key={name} size="xs">
                {name}
              </Kbd>
            ))}
          </dt>
          <dd>{effect}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
