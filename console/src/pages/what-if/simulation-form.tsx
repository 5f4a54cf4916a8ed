import { Anchor, Button, Group, NumberInput, Select, Stack, Text } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { useMe } from '../../api/queries.ts';
import type { TrajectoryInfo } from '../../api/trajectories-query.ts';
import { useChoices } from '../../parts/address-choices.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { SeqField } from './seq-field.tsx';
import { simulationChoicesOf } from './simulation-address.ts';
import { type AskedSimulation, type Configured, useConfigured } from './use-simulation.ts';

interface FormProps {
  readonly trajectory: TrajectoryInfo;
  readonly isRunning: boolean;
  readonly onRun: (asked: AskedSimulation) => void;
}

/** The choices of a simulation of one trajectory. */
export function SimulationForm(props: FormProps) {
  const configured = useConfigured();
  if (configured.isPending) return <Loading what="the simulations" />;
  if (configured.data === undefined)
    return <Failed error={configured.error} retry={() => void configured.refetch()} />;
  const { name } = props.trajectory.domain;
  const fitting = configured.data.filter(({ domain }) => domain === name);
  return fitting.length === 0 ? (
    <NoneConfigured domain={name} />
  ) : (
    <Form {...props} fitting={fitting} />
  );
}

function Form({
  trajectory,
  isRunning,
  onRun,
  fitting,
}: FormProps & { readonly fitting: readonly Configured[] }) {
  const [search] = useSearchParams();
  const [, choose] = useChoices();
  const mayRun = useMe().data?.kinds.includes('admin') === true;
  const { simulation, at, samples } = simulationChoicesOf(search);
  const chosen = fitting.find(({ name }) => name === simulation) ?? (fitting[0] as Configured);
  const last = trajectory.entries - 1;
  const lacks = at !== undefined && at > last ? `The last entry is ${last}.` : undefined;
  const most = chosen.limits.samples;
  const asked = {
    trajectory: trajectory.trajectory_id,
    terms: {
      simulation: chosen.name,
      samples: Math.min(samples, most),
      ...(at !== undefined && { at_seq: at }),
    },
  };
  return (
    <Stack
      gap="sm"
      mt="sm"
      component="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (lacks === undefined) onRun(asked);
      }}
    >
      <Select
        size="xs"
        label="Simulation"
        data={fitting.map(({ name }) => name)}
        allowDeselect={false}
        value={chosen.name}
        onChange={(name) => choose({ simulation: name ?? undefined })}
      />
      <About simulation={chosen} />
      <Group grow gap="sm" align="flex-start">
        <SeqField
          label="From entry"
          placeholder="first"
          value={at}
          onChange={(seq) => choose({ at: seq })}
        />
        <NumberInput
          size="xs"
          label="Samples"
          min={1}
          max={most}
          clampBehavior="strict"
          allowDecimal={false}
          allowNegative={false}
          value={Math.min(samples, most)}
          onChange={(n) => choose({ samples: n === 1 ? undefined : String(n) })}
        />
      </Group>
      <Text size="xs" c="dimmed">
        The entries up to that one are shared with the record. No tool is called. Models of the
        variants are asked. This can cost money.
      </Text>
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed" role="status">
          {mayRun ? (lacks ?? '') : 'An administrator runs a simulation.'}
        </Text>
        {mayRun && (
          <Button type="submit" size="xs" loading={isRunning} disabled={lacks !== undefined}>
            Run the simulation
          </Button>
        )}
      </Group>
    </Stack>
  );
}

function About({ simulation: { description, variants } }: { readonly simulation: Configured }) {
  return (
    <div>
      {description !== undefined && (
        <Text size="sm">
          <Inert>{description}</Inert>
        </Text>
      )}
      {variants !== undefined && (
        <Text size="sm" c="dimmed">
          {variants.length === 1 ? 'Variant' : 'Variants'}: <Inert>{variants.join(', ')}</Inert>
        </Text>
      )}
    </div>
  );
}

const GUIDE =
  'https://github.com/assize/assize/blob/main/docs/guide/backtest.md#simulate-at-a-server';

function NoneConfigured({ domain }: { readonly domain: string }) {
  return (
    <Stack gap="xs" mt="sm">
      <Text size="sm" fw={600}>
        No simulation is configured for the domain <Inert>{domain}</Inert>
      </Text>
      <Text size="sm">
        A simulation continues a world in memory, with other agents, models or policies. Its
        variants are code, so the configuration of the server names them, as{' '}
        <code>simulations</code>.
      </Text>
      <Anchor href={GUIDE} target="_blank" rel="noreferrer" size="sm" underline="always">
        How to configure a simulation
      </Anchor>
    </Stack>
  );
}
