import { Checkbox, Group, Text } from '@mantine/core';
import { InstantInput } from '../../parts/instant-input.tsx';
import type { Change, MemoryAddress } from './address.ts';

interface TimesProps {
  readonly address: MemoryAddress;
  readonly onChange: (change: Change) => void;
}

/** The two times of a question: believed as of one, and true at another. */
export function TimeChoices({ address: { system, valid }, onChange }: TimesProps) {
  return (
    <>
      <InstantInput
        label="Believed as of (system time)"
        instant={system}
        onChange={(next) => onChange({ system: next })}
      />
      <InstantInput
        label="True at (valid time)"
        instant={valid}
        onChange={(next) => onChange({ valid: next })}
        isDisabled={valid === 'any'}
      />
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed">
          In UTC. Empty is now.
        </Text>
        <Checkbox
          size="xs"
          label="True at any time"
          checked={valid === 'any'}
          onChange={(event) => onChange({ valid: event.currentTarget.checked ? 'any' : undefined })}
        />
      </Group>
    </>
  );
}
