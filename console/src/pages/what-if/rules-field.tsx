import { Anchor, Group, Kbd, Text, Textarea } from '@mantine/core';
import { getHotkeyHandler } from '@mantine/hooks';
import classes from './what-if-page.module.css';

interface FieldProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  /** Absent: it is the example. */
  readonly onReset: (() => void) | undefined;
}

/** A rule table as JSON text. It replaces the policy of that time. */
export function RulesField({ value, onChange, onRun, onReset }: FieldProps) {
  return (
    <div>
      <Textarea
        size="xs"
        label="Rule table (JSON)"
        descriptionProps={{ fz: 'xs' }}
        description="It replaces the policy. The rules of the domain stay."
        className={classes.rules}
        autosize
        minRows={12}
        maxRows={28}
        spellCheck={false}
        value={value}
        error={isJson(value) ? undefined : 'This is not JSON.'}
        onChange={(event) => onChange(event.currentTarget.value)}
        onKeyDown={getHotkeyHandler([['mod+Enter', onRun]])}
      />
      <Group justify="space-between" mt={4} gap="xs">
        <Text size="xs" c="dimmed">
          <Kbd size="xs">Ctrl Enter</Kbd> runs it
        </Text>
        {onReset !== undefined && (
          <Anchor component="button" type="button" size="xs" underline="always" onClick={onReset}>
            Back to the example
          </Anchor>
        )}
      </Group>
    </div>
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
