import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { FieldProps } from './field-props.ts';
import { numberOf, numberText } from './number-text.ts';
import { wordsOf } from './words.tsx';

/** A number. Its text stays as typed, also while it is no number yet. */
export function NumberField(props: FieldProps) {
  const { value, onChange, part } = props;
  const [typed, setTyped] = useState(numberText(value));
  // The value may also change elsewhere, as in the JSON of the whole.
  const text = numberOf(typed) === value ? typed : numberText(value);
  return (
    <TextInput
      {...wordsOf(props)}
      inputMode={part.schema.type === 'integer' ? 'numeric' : 'decimal'}
      value={text}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onChange(numberOf(currentTarget.value));
      }}
    />
  );
}
