import { Anchor, Group, Kbd, Text, Textarea } from '@mantine/core';
import { getHotkeyHandler } from '@mantine/hooks';
import { ChangedLines } from './changed-lines.tsx';
import classes from './what-if-page.module.css';

interface FieldProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  /** The text that the editing began with. */
  readonly begun: string;
  /** Whether it is a rules file in YAML, and not a table in JSON. */
  readonly isFile: boolean;
  /** Absent: it is the example. */
  readonly onReset: (() => void) | undefined;
}

/** A rule table as JSON text, or a rules file with the lines that were changed. */
export function RulesField({ value, begun, isFile, onChange, onRun, onReset }: FieldProps) {
  return (
    <div>
      <Textarea
        size="xs"
        label={isFile ? 'Rules file (YAML)' : 'Rule table (JSON)'}
        descriptionProps={{ fz: 'xs' }}
        description={
          isFile
            ? 'It begins with the rules in force.'
            : 'It replaces the policy. The rules of the domain stay.'
        }
        className={classes.rules}
        autosize
        minRows={12}
        maxRows={28}
        spellCheck={false}
        value={value}
        error={isFile || isJson(value) ? undefined : 'This is not JSON.'}
        onChange={(event) => onChange(event.currentTarget.value)}
        onKeyDown={getHotkeyHandler([['mod+Enter', onRun]])}
      />
      <Group justify="space-between" mt={4} gap="xs">
        <Text size="xs" c="dimmed">
          <Kbd size="xs">Ctrl Enter</Kbd> runs it
        </Text>
        {onReset !== undefined && (
          <Anchor component="button" type="button" size="xs" underline="always" onClick={onReset}>
            {isFile ? 'Back to the rules in force' : 'Back to the example'}
          </Anchor>
        )}
      </Group>
      {isFile && value !== begun && <ChangedLines before={begun} after={value} />}
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
