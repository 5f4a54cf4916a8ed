import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { FieldProps } from './field-props.ts';
import { useNumberText } from './money.ts';
import { wordsOf } from './words.tsx';

/** A number. Its text stays as typed, also while it is not a number yet. */
export function NumberField(props: FieldProps) {
  const { value, onChange, part } = props;
  const { read, write, words } = useNumberText(props);
  const [typed, setTyped] = useState(write(value));
  // The value may also change elsewhere, as in the JSON of the whole.
  const text = read(typed) === value ? typed : write(value);
  return (
    <TextInput
      {...wordsOf(props)}
      {...words}
      inputMode={part.schema.type === 'integer' && !('label' in words) ? 'numeric' : 'decimal'}
      value={text}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onChange(read(currentTarget.value));
      }}
    />
  );
}
