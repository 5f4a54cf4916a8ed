import { Textarea } from '@mantine/core';
import { visibleJson } from 'assize/internal/views/visible.ts';
import { useState } from 'react';
import type { FieldProps } from './field-props.ts';
import { parsed, Unreadable } from './unreadable.ts';
import { wordsOf } from './words.tsx';

/** A part as JSON text. Each invisible character in it is an escape. */
export function JsonField(props: FieldProps) {
  const { value, onChange, isRequired } = props;
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: unknown }>();
  const text = typed !== undefined && Object.is(typed.value, value) ? typed.text : textOf(value);
  const { error, ...words } = wordsOf(props, true);
  return (
    <Textarea
      {...words}
      error={value instanceof Unreadable ? 'This is not JSON.' : error}
      autosize
      minRows={1}
      maxRows={14}
      value={text}
      styles={{ input: { fontFamily: 'var(--assize-mono)', fontSize: 13 } }}
      onChange={({ currentTarget }) => {
        const next =
          currentTarget.value.trim() === '' && !isRequired
            ? undefined
            : parsed(currentTarget.value);
        setTyped({ text: currentTarget.value, value: next });
        onChange(next);
      }}
    />
  );
}

function textOf(value: unknown): string {
  if (value instanceof Unreadable) return value.text;
  return value === undefined ? '' : visibleJson(value);
}
