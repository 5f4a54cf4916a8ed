import { Alert, Button, Stack, Text, Title } from '@mantine/core';
import { Inert } from '../../parts/inert-text.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { SimulationPartings } from './simulation-partings.tsx';
import { SimulationTable } from './simulation-table.tsx';
import { argsText } from './step-text.tsx';
import type { Simulation, useSimulation } from './use-simulation.ts';

interface ResultProps {
  readonly simulating: ReturnType<typeof useSimulation>;
  readonly trajectory: string;
}

/** The result of the last simulation, its progress or its failure. */
export function SimulationResult({ simulating: { run, stop }, trajectory }: ResultProps) {
  const { variables: asked, data, error } = run;
  if (asked === undefined || asked.trajectory !== trajectory)
    return (
      <Empty title="Run a simulation">
        The variants appear here side by side, with the first ruling where each parts from the
        record.
      </Empty>
    );
  if (run.isPending)
    return (
      <Stack align="center" gap={0}>
        <Loading what="the simulation" />
        <Button size="xs" variant="default" onClick={stop}>
          Stop
        </Button>
      </Stack>
    );
  if (data === undefined) return <Failed error={error} retry={() => run.mutate(asked)} />;
  return <Shown simulation={data} name={asked.terms.simulation} />;
}

function Shown({ simulation, name }: { readonly simulation: Simulation; readonly name: string }) {
  const { trajectory_id, at, recorded, variants } = simulation;
  const samples = variants[0]?.samples.length ?? 0;
  return (
    <Stack gap="xl">
      <div role="status">
        <Title order={2} size="h4" className="wraps">
          {variants.length === 1 ? '1 variant' : `${variants.length} variants`} from entry {at.seq}
        </Title>
        <Text size="sm" c="dimmed">
          <Inert>{name}</Inert> on <Inert>{trajectory_id}</Inert>,{' '}
          {samples === 1 ? '1 sample' : `medians of ${samples} samples`} of each variant. Nothing
          was written.
          {recorded.turns > 0 && recorded.left_out > 0 && ` ${left(recorded.left_out)}`}
        </Text>
      </div>
      <Faults variants={variants} />
      <SimulationTable simulation={simulation} />
      <SimulationPartings simulation={simulation} />
    </Stack>
  );
}

function left(count: number): string {
  return count === 1
    ? 'No variant has 1 later entry of another writer.'
    : `No variant has ${count.toLocaleString('en')} later entries of other writers.`;
}

/** The samples that have no answer to a call, or that failed. */
function Faults({ variants }: Pick<Simulation, 'variants'>) {
  const faulty = variants.flatMap(({ samples }) =>
    samples.filter(({ fault }) => fault !== undefined),
  );
  if (faulty.length === 0) return null;
  return (
    <Alert color="yellow" variant="outline" title="Some samples ended early" role="alert">
      {faulty.map(({ variant, sample, fault }) => (
        <Text key={`${variant} ${sample}`} size="sm" className="wraps">
          <Inert>{variant}</Inert>, sample {sample + 1}: {fault?.code}
          {fault?.tool !== undefined && (
            <>
              , <Inert>{`${fault.tool} ${argsText(fault.input)}`}</Inert>
            </>
          )}
          . <Inert>{fault?.detail ?? ''}</Inert>
        </Text>
      ))}
    </Alert>
  );
}
