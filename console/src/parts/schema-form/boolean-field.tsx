import { Checkbox, Select } from '@mantine/core';
import type { FieldProps } from './field-props.ts';
import { wordsOf } from './words.tsx';

const OPTIONAL = [
  { value: 'true', label: 'yes' },
  { value: 'false', label: 'no' },
];

/** Yes or no. An optional one may also be left out. */
export function BooleanField(props: FieldProps) {
  const { value, onChange, isRequired } = props;
  if (isRequired)
    return (
      <Checkbox
        {...wordsOf(props)}
        checked={value === true}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    );
  return (
    <Select
      {...wordsOf(props)}
      data={OPTIONAL}
      clearable
      placeholder="left out"
      value={value === undefined ? null : String(value)}
      onChange={(next) => onChange(next === null ? undefined : next === 'true')}
    />
  );
}
