import { Button, Fieldset, Stack, Text } from '@mantine/core';
import { Field } from './field.tsx';
import type { FieldProps } from './field-props.ts';
import { membersOf, withMember } from './members.ts';
import { emptyOf } from './schema.ts';
import classes from './schema-form.module.css';
import { wordsOf } from './words.tsx';

/** An object: a field for each member. The whole form is one without a frame. */
export function ObjectField(props: FieldProps) {
  const { path, value, onChange, part, isRequired } = props;
  const { label, description, error } = wordsOf(props);
  const isRoot = path.length === 0;
  if (value === undefined)
    return (
      <Fieldset legend={label} className={classes.nested}>
        <Button size="compact-xs" variant="default" onClick={() => onChange(emptyOf(part))}>
          Add
        </Button>
        <Told error={error} />
      </Fieldset>
    );
  const members = (
    <Stack gap="xs">
      {description !== undefined && (
        <Text size="xs" c="dimmed">
          {description}
        </Text>
      )}
      <div className={classes.members}>
        <Members {...props} />
      </div>
      <Told error={error} />
      {!isRequired && !isRoot && (
        <Button
          size="compact-xs"
          variant="subtle"
          className={classes.end}
          onClick={() => onChange(undefined)}
        >
          Remove
        </Button>
      )}
    </Stack>
  );
  return isRoot ? (
    members
  ) : (
    <Fieldset legend={label} className={classes.nested}>
      {members}
    </Fieldset>
  );
}

function Members({ path, value, onChange, part, findings }: FieldProps) {
  const object = value as Readonly<Record<string, unknown>>;
  return membersOf(part, object).map((member) => (
    <Field
      key={member.name}
      name={member.name}
      path={[...path, member.name]}
      part={member.part}
      value={member.value}
      isRequired={member.isRequired}
      findings={findings}
      onChange={(next) => onChange(withMember(object, member.name, next))}
    />
  ));
}

/** The misfits of the object itself, such as a member that it may not have. */
function Told({ error }: { readonly error: React.ReactNode }) {
  if (error === undefined) return null;
  return (
    <Text size="xs" className={classes.error}>
      {error}
    </Text>
  );
}
