import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
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
      <TimeChoices address={address} onChange={onChange} />
    </form>
  );
}

/** Milliseconds after the last change until the memory is asked. */
const QUIET_MS = 250;

/** The text and the times of the address, once they stay the same. */
export function useQuestion({ text, valid, system }: MemoryAddress): MemoryAddress {
  const [asked] = useDebouncedValue({ text, valid, system }, QUIET_MS);
  return asked as MemoryAddress;
}
