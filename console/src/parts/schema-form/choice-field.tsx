import { Select } from '@mantine/core';
import { visible } from 'assize/internal/views/visible.ts';
import type { FieldProps } from './field-props.ts';
import { choicesOf } from './schema.ts';
import { wordsOf } from './words.tsx';

/** One of the values of a list. A value that is not in it stays until another one is chosen. */
export function ChoiceField(props: FieldProps) {
  const { value, onChange, isRequired, part } = props;
  const choices = choicesOf(part.schema) ?? [];
  const isListed = value === undefined || choices.includes(value);
  const all = isListed ? choices : [...choices, value];
  const data = all.map((one, n) => ({ value: String(n), label: visible(labelOf(one)) }));
  const index = all.indexOf(value);
  return (
    <Select
      {...wordsOf(props)}
      data={data}
      clearable={!isRequired}
      allowDeselect={!isRequired}
      placeholder={isRequired ? 'Choose one' : 'left out'}
      value={index < 0 ? null : String(index)}
      onChange={(next) => onChange(next === null ? undefined : all[Number(next)])}
    />
  );
}

function labelOf(choice: unknown): string {
  return typeof choice === 'string' ? choice : JSON.stringify(choice);
}
