import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import { Inert } from '../../parts/inert-text.tsx';
import { Empty } from '../../parts/states.tsx';
import { Term } from '../../parts/term.tsx';
import type { Transaction } from './effects-query.ts';
import { FateMark, ShapeMark } from './fate-mark.tsx';
import { type Lane, lanesOf } from './lanes.ts';
import classes from './resource-lanes.module.css';

const EPOCHS_MAX = 24;
const LANES_MAX = 50;

interface LanesProps {
  readonly transactions: readonly Transaction[];
  readonly hrefOf: (epoch: number) => string;
}

/** The newest transactions by resource: each row is a resource, each column an epoch. */
export function ResourceLanes({ transactions, hrefOf }: LanesProps) {
  const { epochs, lanes } = lanesOf(transactions, EPOCHS_MAX);
  if (lanes.length === 0)
    return <Empty title="No resource">No transaction of the list claims one.</Empty>;
  const more = lanes.length - LANES_MAX;
  return (
    <section className={classes.page} aria-labelledby="lanes-title">
      <h2 id="lanes-title" className={classes.title}>
        Resources by epoch
      </h2>
      <Text size="sm" c="dimmed" mb="sm">
        A transaction waits for lower epochs that claim the same resource. Choose a mark, or a
        transaction in the list.
      </Text>
      <div className={classes.scroller}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col" className={classes.scope}>
                Resource
              </th>
              <th scope="col" className={classes.frontier}>
                <Term>Frontier</Term>
              </th>
              {epochs.map((epoch) => (
                <th key={epoch} scope="col" className={classes.epoch}>
                  {epoch}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lanes.slice(0, LANES_MAX).map((lane) => (
              <Row key={lane.scope} lane={lane} epochs={epochs} hrefOf={hrefOf} />
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 && (
        <Text size="xs" c="dimmed" mt="xs">
          {more} more resources: choose a transaction to see its own.
        </Text>
      )}
      <Legend lanes={lanes} />
    </section>
  );
}

interface RowProps extends Pick<LanesProps, 'hrefOf'> {
  readonly lane: Lane;
  readonly epochs: readonly number[];
}

function Row({ lane: { scope, frontier, fates }, epochs, hrefOf }: RowProps) {
  return (
    <tr>
      <th scope="row" className={classes.scope} title={scope}>
        <Inert>{scope}</Inert>
      </th>
      <td className={classes.frontier}>
        {frontier === undefined ? (
          'free'
        ) : (
          <Anchor component={Link} href={hrefOf(frontier)} size="xs" underline="always">
            epoch {frontier}
          </Anchor>
        )}
      </td>
      {epochs.map((epoch) => {
        const fate = fates.get(epoch);
        return (
          <td key={epoch} className={classes.epoch}>
            {fate !== undefined && (
              <Link
                href={hrefOf(epoch)}
                className={classes.mark}
                aria-label={`Epoch ${epoch}: ${fate.word}`}
                title={`Epoch ${epoch}: ${fate.word}`}
              >
                <ShapeMark shape={fate.shape} />
              </Link>
            )}
          </td>
        );
      })}
    </tr>
  );
}

/** The words of the marks that the table has. */
function Legend({ lanes }: { readonly lanes: readonly Lane[] }) {
  const fates = new Map(
    lanes.flatMap((lane) => [...lane.fates.values()]).map((fate) => [fate.word, fate]),
  );
  return (
    <ul className={classes.legend} aria-label="Marks">
      {[...fates.values()].map((fate) => (
        <li key={fate.word}>
          <FateMark fate={fate} />
        </li>
      ))}
    </ul>
  );
}
