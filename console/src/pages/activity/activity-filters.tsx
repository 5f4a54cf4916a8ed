import { Autocomplete, Group, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { useAllTrajectories } from '../../api/trajectories-query.ts';
import { RULINGS } from '../../parts/ruling-mark.tsx';
import { spanOf } from '../../parts/time-words.ts';
import { useAgents } from '../agents/agents-query.ts';
import type { Filters } from './activity-query.ts';

const TYPING_MS = 300;
const NAME_MAX = 512;

interface FiltersProps {
  readonly filters: Filters;
  readonly onChange: (changed: Partial<Filters>) => void;
}

/** The filters of the list. They are in the address of the page. */
export function ActivityFilters({ filters, onChange }: FiltersProps) {
  const agents = useAgents();
  const trajectories = useAllTrajectories();
  const names = agents.data?.agents.map(({ name }) => name) ?? [];
  const worlds = trajectories.data?.map(({ trajectory_id }) => trajectory_id) ?? [];
  const field = (name: keyof Filters) => ({
    value: filters[name],
    onChange: (value: string) => onChange({ [name]: value }),
  });
  return (
    <Group gap="xs" align="start">
      <Typed label="Search" placeholder="action, rule, detail, id" width={220} {...field('text')} />
      <Typed
        label="When"
        placeholder="yesterday 14:00 to 14:10"
        width={200}
        faultOf={(words) =>
          words === '' || spanOf(words, new Date()) !== undefined
            ? undefined
            : 'Write a day, times or a span: yesterday 14:00 to 14:10, 28 Nov, last week, 7d'
        }
        {...field('when')}
      />
      <Typed
        label="Who"
        placeholder="agent or person"
        width={170}
        data={names}
        {...field('principal')}
      />
      <Select
        {...BOX}
        w={130}
        clearable
        label="Ruling"
        placeholder="all"
        value={filters.ruling === '' ? null : filters.ruling}
        onChange={(value) => onChange({ ruling: value ?? '' })}
        data={Object.entries(RULINGS).map(([value, { word }]) => ({ value, label: word }))}
      />
      <Typed label="World" placeholder="all" width={150} data={worlds} {...field('trajectory')} />
      <Typed label="Rule" placeholder="all" width={130} {...field('rule')} />
      <Typed label="Tool" placeholder="bank.pay, shell/git" width={150} {...field('tool')} />
      <Typed
        label="Amount"
        placeholder="at least, 500"
        width={110}
        faultOf={(words) =>
          /^(?:\d{1,15}(?:\.\d{1,6})?)?$/.test(words) ? undefined : 'Write a number: 500'
        }
        {...field('amount')}
      />
    </Group>
  );
}

const BOX = { size: 'xs' } as const;

interface TypedProps {
  readonly label: string;
  readonly placeholder: string;
  readonly width: number;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Names to choose from. */
  readonly data?: readonly string[];
  readonly faultOf?: (value: string) => string | undefined;
}

/** A field whose value counts when the reader pauses, unless it has a fault. */
function Typed({ width, value, onChange, data, faultOf, ...box }: TypedProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const fault = faultOf?.(typed.trim());
  const count = useDebouncedCallback((next: string) => {
    if (faultOf?.(next) === undefined) onChange(next);
  }, TYPING_MS);
  const take = (next: string): void => {
    setTyped(next);
    count(next.trim());
  };
  const props = { ...BOX, ...box, w: width, maxLength: NAME_MAX, value: typed, error: fault };
  return data === undefined ? (
    <TextInput {...props} onChange={(event) => take(event.currentTarget.value)} />
  ) : (
    <Autocomplete {...props} data={[...new Set(data)]} limit={20} onChange={take} />
  );
}
