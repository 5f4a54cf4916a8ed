import { Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useId } from 'react';
import { Field } from './field.tsx';
import type { Finding } from './findings.ts';
import { JsonField } from './json-field.tsx';
import { type Resolved, resolvedRoot, type Schema } from './schema.ts';
import { isReadable } from './unreadable.ts';

/** The two views of the value: a field for each part, or the whole as JSON. */
export type FormView = 'form' | 'json';

interface SchemaFormProps {
  readonly title: string;
  readonly schema: Schema;
  readonly value: unknown;
  readonly onChange: (next: unknown) => void;
  readonly findings: readonly Finding[];
  readonly view: FormView;
  readonly onView: (view: FormView) => void;
}

const ANY: Resolved = { schema: {}, root: {}, seen: [] };

/** A form for a value of a JSON Schema. Parts that are not touched stay as they are. */
export function SchemaForm({
  title,
  schema,
  value,
  onChange,
  findings,
  view,
  onView,
}: SchemaFormProps) {
  const id = useId();
  const shared = { name: title, path: [], value, onChange, isRequired: true, findings };
  return (
    <section aria-labelledby={id}>
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          <Text fw={600} size="sm" id={id}>
            {title}
          </Text>
          <SegmentedControl
            size="xs"
            aria-label={`View of: ${title}`}
            value={view}
            onChange={(next) => onView(next as FormView)}
            data={[
              { value: 'form', label: 'Form', disabled: !isReadable(value) },
              { value: 'json', label: 'JSON' },
            ]}
          />
        </Group>
        {view === 'form' ? (
          <Field {...shared} part={resolvedRoot(schema)} />
        ) : (
          <JsonField {...shared} name="JSON" part={ANY} />
        )}
      </Stack>
    </section>
  );
}
