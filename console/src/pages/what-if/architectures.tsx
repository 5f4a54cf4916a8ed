import { visible } from '@assize/cli/internal/terminal/visible.ts';
import { Button, Group, NumberInput, Select, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { type Domain, useDomains } from '../../api/domain-query.ts';
import { Failed, Loading } from '../../parts/states.tsx';
import { ComparedArchitectures } from './compared-architectures.tsx';
import { type ComparisonTerms, NUMBERS, type NumberName } from './comparison.ts';

/** Generated agents of a domain under a microservices architecture and under the kernel. */
export function Architectures({ domain }: { readonly domain: string | undefined }) {
  const domains = useDomains();
  return (
    <section aria-label="Other architectures">
      <Title order={2} size="h4" mt="xl">
        Other architectures
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        Generated agents of a domain run in memory under each architecture, in the same schedules: an agent reads,
        others submit, and then it submits. In a microservices architecture, each agent checks only the rules that its
        own slice of the state can check. Nothing is written.
      </Text>
      {domains.isPending && <Loading what="the domains" />}
      {domains.error !== null && <Failed error={domains.error} retry={() => void domains.refetch()} />}
      {domains.data !== undefined && <Choices domains={domains.data} first={domain} />}
    </section>
  );
}

type Numbers = Readonly<Record<NumberName, number>>;

const NAMES = Object.keys(NUMBERS) as readonly NumberName[];
const FIRST = Object.fromEntries(NAMES.map((name) => [name, NUMBERS[name].first])) as Numbers;

function Choices({ domains, first }: { readonly domains: readonly Domain[]; readonly first: string | undefined }) {
  const [chosen, setChosen] = useState<string>();
  const [numbers, setNumbers] = useState(FIRST);
  const [asked, setAsked] = useState<ComparisonTerms>();
  const domain = chosen ?? (domains.some(({ hash }) => hash === first) ? first : domains[0]?.hash);
  return (
    <Stack gap="md">
      <Group
        gap="sm"
        align="flex-end"
        component="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (domain !== undefined) setAsked({ domain, ...numbers });
        }}
      >
        <Select
          size="xs"
          label="Domain"
          w={180}
          allowDeselect={false}
          data={domains.map(({ hash, name, version }) => ({ value: hash, label: visible(`${name}@${version}`) }))}
          value={domain ?? null}
          onChange={(hash) => setChosen(hash ?? undefined)}
        />
        {NAMES.map((name) => (
          <NumberField
            key={name}
            name={name}
            value={numbers[name]}
            onChange={(n) => setNumbers({ ...numbers, [name]: n })}
          />
        ))}
        <Button type="submit" size="xs" variant="default" disabled={domain === undefined}>
          Compare
        </Button>
      </Group>
      {asked !== undefined && <ComparedArchitectures terms={asked} />}
    </Stack>
  );
}

interface FieldProps {
  readonly name: NumberName;
  readonly value: number;
  readonly onChange: (value: number) => void;
}

function NumberField({ name, value, onChange }: FieldProps) {
  const { label, min, max, first } = NUMBERS[name];
  return (
    <NumberInput
      size="xs"
      w={84}
      {...{ label, min, max, value }}
      clampBehavior="strict"
      allowDecimal={false}
      allowNegative={false}
      onChange={(next) => onChange(typeof next === 'number' ? next : first)}
    />
  );
}
