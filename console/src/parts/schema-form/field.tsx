import { BooleanField } from './boolean-field.tsx';
import { ChoiceField } from './choice-field.tsx';
import type { FieldProps } from './field-props.ts';
import { JsonField } from './json-field.tsx';
import { ListField } from './list-field.tsx';
import { NumberField } from './number-field.tsx';
import { ObjectField } from './object-field.tsx';
import { isOfKind, type Kind, kindOf } from './schema.ts';
import { TextField } from './text-field.tsx';

const FIELDS: Readonly<Record<Kind, (props: FieldProps) => React.ReactNode>> = {
  text: TextField,
  number: NumberField,
  integer: NumberField,
  boolean: BooleanField,
  choice: ChoiceField,
  object: ObjectField,
  list: ListField,
  json: JsonField,
};

/** The field for a part of the value: by its schema, or as JSON. */
export function Field(props: FieldProps) {
  const kind = kindOf(props.part);
  const Shown = FIELDS[isOfKind(kind, props.value) ? kind : 'json'];
  return <Shown {...props} />;
}
