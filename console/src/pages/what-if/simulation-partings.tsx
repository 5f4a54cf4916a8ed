import { Anchor, Stack, Table, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { timelineHref } from '../../parts/addresses.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { useRowKeys } from '../../parts/row-keys.ts';
import sides from './backtest-result.module.css';
import classes from './simulation.module.css';
import { argsText, StepMark, StepText } from './step-text.tsx';
import type { SimulatedStep, SimulatedVariant, Simulation } from './use-simulation.ts';

/** The first ruling where each variant parts from the record, and from each other variant. */
export function SimulationPartings({ simulation }: { readonly simulation: Simulation }) {
  const { trajectory_id: trajectory, variants, partings } = simulation;
  const part = useRowKeys<HTMLDivElement>();
  return (
    <div ref={part}>
      <section aria-label="Where each parts from the record">
        <Title order={3} size="h6" mb={4}>
          Where each parts from the record
        </Title>
        <Stack gap="md">
          {variants.map((variant) => (
            <FromRecord key={variant.name} variant={variant} trajectory={trajectory} />
          ))}
        </Stack>
      </section>
      {partings.length > 0 && (
        <section aria-label="Where variants part from each other">
          <Title order={3} size="h6" mt="xl" mb={4}>
            Where variants part from each other
          </Title>
          <BetweenVariants simulation={simulation} />
        </section>
      )}
    </div>
  );
}

interface FromRecordProps {
  readonly variant: SimulatedVariant;
  readonly trajectory: string;
}

function FromRecord({ variant: { name, samples }, trajectory }: FromRecordProps) {
  const parted = samples.filter(({ parts }) => parts !== undefined);
  const [first] = parted;
  const parts = first?.parts;
  return (
    <article aria-label={name}>
      <Text size="sm" fw={600}>
        <Inert>{name}</Inert>
      </Text>
      {first === undefined || parts === undefined ? (
        <Text size="sm" c="dimmed">
          Has the rulings of the record.
        </Text>
      ) : (
        <>
          <Text size="sm" c="dimmed">
            {parts.turn === undefined ? `At ruling ${parts.step + 1}` : `At turn ${parts.turn}`}
            {samples.length > 1 &&
              ` of sample ${first.sample + 1}; ${parted.length} of ${samples.length} samples part`}
          </Text>
          <div className={sides.first}>
            <div className={sides.side}>
              <Text size="xs" c="dimmed">
                The record{parts.one !== undefined && ', '}
                {parts.one !== undefined && (
                  <EntryAnchor trajectory={trajectory} step={parts.one} />
                )}
              </Text>
              {parts.one === undefined ? 'Has ended.' : <StepText step={parts.one} />}
            </div>
            <div className={sides.side}>
              <Text size="xs" c="dimmed">
                <Inert>{name}</Inert>
              </Text>
              {parts.other === undefined ? 'Has ended.' : <StepText step={parts.other} />}
            </div>
          </div>
        </>
      )}
    </article>
  );
}

function BetweenVariants({
  simulation: { trajectory_id: trajectory, variants, partings },
}: {
  readonly simulation: Simulation;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table
    <div className={classes.scroll} tabIndex={0}>
      <Table fz="sm" verticalSpacing={5} className={classes.pairs}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Entry of the record</Table.Th>
            <Table.Th>First variant</Table.Th>
            <Table.Th>Second variant</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {partings.map(({ variants: [one = '', other = ''], sample, step, ...steps }) => {
            const recorded = recordedAt(variants, [one, other], sample, step);
            return (
              <Table.Tr key={`${one} ${other}`}>
                <Table.Td>
                  {recorded === undefined ? (
                    'none'
                  ) : (
                    <EntryAnchor trajectory={trajectory} step={recorded} />
                  )}
                </Table.Td>
                <Ruled name={one} step={steps.one} />
                <Ruled name={other} step={steps.other} />
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </div>
  );
}

/**
 * The ruling of the record at which two variants part from each other. Absent if both have parted
 * from the record before, or if the record has ended there.
 */
function recordedAt(
  variants: readonly SimulatedVariant[],
  pair: readonly string[],
  sample: number,
  step: number,
): SimulatedStep | undefined {
  const parts = variants
    .filter(({ name }) => pair.includes(name))
    .map(({ samples }) => samples[sample]?.parts);
  return parts.find((part) => part?.step === step)?.one;
}

function Ruled({
  name,
  step,
}: {
  readonly name: string;
  readonly step: SimulatedStep | undefined;
}) {
  return (
    <Table.Td>
      <Text size="xs" c="dimmed">
        <Inert>{name}</Inert>
      </Text>
      {step === undefined ? (
        'Has ended.'
      ) : (
        <>
          <StepMark ruling={step.ruling} /> <Inert>{`${step.action} ${argsText(step.args)}`}</Inert>
        </>
      )}
    </Table.Td>
  );
}

function EntryAnchor({
  trajectory,
  step: { seq },
}: {
  readonly trajectory: string;
  readonly step: SimulatedStep;
}) {
  return (
    <Anchor
      component={Link}
      href={timelineHref(trajectory, seq)}
      size="sm"
      underline="always"
      data-row
    >
      Entry {seq}
    </Anchor>
  );
}
