import { Text, Textarea, TextInput } from '@mantine/core';
import { visible } from 'assize/internal/views/visible.ts';
import { Inert } from '../inert-text.tsx';
import type { FieldProps } from './field-props.ts';
import { wordsOf } from './words.tsx';

/** Texts that may be longer get several lines. */
const LINE_MAX = 120;

/** A text. An optional one that is emptied is removed. */
export function TextField(props: FieldProps) {
  const { value, onChange, isRequired, part } = props;
  const text = typeof value === 'string' ? value : '';
  const change = (next: string) => onChange(next === '' && !isRequired ? undefined : next);
  const isLong =
    text.length > LINE_MAX || text.includes('\n') || (part.schema.maxLength ?? 0) > 4 * LINE_MAX;
  const shared = { ...wordsOf(props), value: text, dir: 'auto' as const };
  return (
    <div>
      {isLong ? (
        <Textarea
          {...shared}
          autosize
          maxRows={8}
          onChange={(event) => change(event.currentTarget.value)}
        />
      ) : (
        <TextInput {...shared} onChange={(event) => change(event.currentTarget.value)} />
      )}
      <Unseen text={text} />
    </div>
  );
}

/** A field shows a text as it is, so its unseen characters are shown below it. */
function Unseen({ text }: { readonly text: string }) {
  if (visible(text.replaceAll('\n', '')) === text.replaceAll('\n', '')) return null;
  return (
    <Text size="xs" mt={2}>
      With characters that the field does not show: <Inert>{text}</Inert>
    </Text>
  );
}
