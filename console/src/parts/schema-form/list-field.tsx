import { Button, Fieldset, Group, Stack, Text } from '@mantine/core';
import { Field } from './field.tsx';
import type { FieldProps } from './field-props.ts';
import { withItem, withoutItem } from './members.ts';
import { emptyOf, resolved } from './schema.ts';
import classes from './schema-form.module.css';
import { wordsOf } from './words.tsx';

/** A list: a field for each item, with a button to remove it, and a button for another one. */
export function ListField(props: FieldProps) {
  const { name, path, value, onChange, part, isRequired, findings } = props;
  const { label, description, error } = wordsOf(props);
  const items = (value ?? []) as readonly unknown[];
  const item = resolved(part.schema.items, part);
  const remove = (n: number) => {
    const rest = withoutItem(items, n);
    onChange(rest.length === 0 && !isRequired ? undefined : rest);
  };
  return (
    <Fieldset legend={label} className={classes.nested}>
      <Stack gap="xs">
        {description !== undefined && (
          <Text size="xs" c="dimmed">
            {description}
          </Text>
        )}
        {items.map((one, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an item has no other name
          <Group key={n} gap="xs" wrap="nowrap" align="flex-start">
            <div className={classes.item}>
              <Field
                name={`${name} ${n + 1}`}
                path={[...path, String(n)]}
                part={item}
                value={one}
                isRequired
                findings={findings}
                onChange={(next) => onChange(withItem(items, n, next ?? null))}
              />
            </div>
            <Button
              size="compact-xs"
              variant="subtle"
              className={classes.remove}
              aria-label={`Remove ${name} ${n + 1}`}
              onClick={() => remove(n)}
            >
              Remove
            </Button>
          </Group>
        ))}
        {error !== undefined && (
          <Text size="xs" className={classes.error}>
            {error}
          </Text>
        )}
        <Button
          size="compact-xs"
          variant="default"
          className={classes.end}
          onClick={() => onChange([...items, emptyOf(item)])}
        >
          {`Add to ${name}`}
        </Button>
      </Stack>
    </Fieldset>
  );
}
