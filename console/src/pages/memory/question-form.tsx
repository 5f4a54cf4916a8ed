import { Anchor, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { spanAtEndOf } from '../../parts/time-words.ts';
import { localInstant, periodText } from '../../parts/times.ts';
import type { Change, MemoryAddress } from './address.ts';
import classes from './memory-page.module.css';
import { TimeChoices } from './time-choices.tsx';

interface FormProps {
  /** The name of the form. */
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
  readonly address: MemoryAddress;
  readonly onChange: (change: Change) => void;
}

/** A text and two times, by which a memory is asked. */
export function QuestionForm({ name, label, placeholder, address, onChange }: FormProps) {
  return (
    <form className={classes.form} aria-label={name} onSubmit={(event) => event.preventDefault()}>
      <TextInput
        size="xs"
        label={label}
        placeholder={placeholder}
        value={address.text ?? ''}
        onChange={(event) => onChange({ text: event.currentTarget.value })}
      />
      <Then text={address.text ?? ''} onChange={onChange} />
      <TimeChoices address={address} onChange={onChange} />
    </form>
  );
}

/** The memory is asked by times, and not by words: those of a question are offered as times. */
function Then({ text, onChange }: { readonly text: string } & Pick<FormProps, 'onChange'>) {
  const { since, until } = spanAtEndOf(text, new Date()) ?? {};
  if (since === undefined || until === undefined) return null;
  const last = new Date(Date.parse(until) - 1).toISOString().replace('Z', '999Z');
  const choice = (label: string, change: Change) => (
    <Anchor component="button" type="button" size="xs" onClick={() => onChange(change)}>
      {label}
    </Anchor>
  );
  return (
    <Text size="xs" role="status">
      {periodText(since, until, localInstant)}: ask what was {choice('true then', { valid: last })}{' '}
      or {choice('believed then', { system: last, valid: 'any' })}.
    </Text>
  );
}

/** Milliseconds after the last change until the memory is asked. */
const QUIET_MS = 250;

/** The text and the times of the address, once they stay the same. */
export function useQuestion({ text, valid, system }: MemoryAddress): MemoryAddress {
  const [asked] = useDebouncedValue({ text, valid, system }, QUIET_MS);
  return asked as MemoryAddress;
}
