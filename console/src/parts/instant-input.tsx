import { TextInput } from '@mantine/core';

interface InstantInputProps {
  readonly label: string;
  readonly instant?: string | undefined;
  readonly onChange: (instant: string | undefined) => void;
  readonly isDisabled?: boolean;
  /** The fault of the given instant. */
  readonly error?: string | undefined;
}

/** A field for an instant in UTC, to the second. */
export function InstantInput({
  label,
  instant = '',
  onChange,
  isDisabled = false,
  error,
}: InstantInputProps) {
  return (
    <TextInput
      size="xs"
      type="datetime-local"
      step={1}
      label={label}
      disabled={isDisabled}
      error={error}
      value={isDisabled ? '' : instant.slice(0, 19)}
      onChange={(event) => onChange(instantOf(event.currentTarget.value))}
    />
  );
}

/** The instant of a local time of an input, read as UTC. */
function instantOf(value: string): string | undefined {
  const time = Date.parse(`${value}Z`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().replace('Z', '000Z');
}
