import { NumberInput } from '@mantine/core';

interface SeqProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: number | undefined;
  readonly onChange: (seq: string | undefined) => void;
}

/** The number of an entry. */
export function SeqField({ label, placeholder, value, onChange }: SeqProps) {
  return (
    <NumberInput
      size="xs"
      label={label}
      placeholder={placeholder}
      min={0}
      allowDecimal={false}
      allowNegative={false}
      hideControls
      value={value ?? ''}
      onChange={(seq) => onChange(String(seq))}
    />
  );
}
