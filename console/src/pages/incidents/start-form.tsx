import { Button, Group, Select, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { InstantInput } from '../../parts/instant-input.tsx';
import classes from './incidents-page.module.css';
import { STARTS, type Start, type StartName, startNameIn } from './start-address.ts';

interface FormProps {
  /** The start of the address. */
  readonly start: Start | undefined;
  readonly onFind: (start: Start) => void;
}

/** The choice of the start: one name, and the period in which it was bad. */
export function StartForm({ start, onFind }: FormProps) {
  const given = startNameIn(start ?? {});
  const [name, setName] = useState<StartName>(given);
  const [value, setValue] = useState(start?.[given] ?? '');
  const [since, setSince] = useState(start?.since);
  const [until, setUntil] = useState(start?.until);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (value.trim() === '') return;
    onFind({
      [name]: value.trim(),
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
    });
  };
  return (
    <form onSubmit={submit} aria-label="Start of the incident" className={classes.form}>
      <Group align="flex-end" gap="sm">
        <Select
          size="xs"
          label="Begins with"
          allowDeselect={false}
          data={Object.entries(STARTS).map(([each, label]) => ({ value: each, label }))}
          value={name}
          onChange={(next) => setName((next ?? 'entry') as StartName)}
        />
        <TextInput
          size="xs"
          label="Name or id"
          miw={280}
          value={value}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
        <InstantInput label="Since (UTC)" instant={since} onChange={setSince} />
        <InstantInput label="Before (UTC)" instant={until} onChange={setUntil} />
        <Button size="xs" type="submit" disabled={value.trim() === ''}>
          Find what derives
        </Button>
      </Group>
    </form>
  );
}
