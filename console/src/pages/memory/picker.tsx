import { Select } from '@mantine/core';
import { visible } from 'assize/internal/views/visible.ts';

interface PickerProps {
  readonly label: string;
  readonly names: readonly string[];
  readonly chosen: string | undefined;
  readonly onChoose: (name: string) => void;
}

/** A choice among names. A name of the address that the list lacks is shown as well. */
export function Picker({ label, names, chosen, onChoose }: PickerProps) {
  const all = chosen === undefined || names.includes(chosen) ? names : [chosen, ...names];
  return (
    <Select
      size="xs"
      label={label}
      searchable
      allowDeselect={false}
      nothingFoundMessage="Nothing matches."
      data={all.map((name) => ({ value: name, label: visible(name) }))}
      value={chosen ?? null}
      onChange={(name) => name !== null && onChoose(name)}
    />
  );
}
