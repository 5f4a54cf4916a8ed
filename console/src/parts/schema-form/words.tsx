import classes from '../field.module.css';
import { Inert } from '../inert-text.tsx';
import type { FieldProps } from './field-props.ts';
import { messagesAt } from './findings.ts';
import { limitsOf } from './schema.ts';

/** The label, the description and the error of a field. */
export function wordsOf(
  { name, path, part, isRequired, findings }: FieldProps,
  isWhole: boolean = false,
) {
  const { schema } = part;
  const limits = limitsOf(schema);
  const about = [schema.description, limits]
    .filter((text) => text !== undefined && text !== '')
    .join('. ');
  const error = messagesAt(findings, path, isWhole);
  return {
    size: 'xs',
    classNames: { root: classes.field },
    label: <Inert>{`${schema.title ?? name}${isRequired ? '' : ' (optional)'}`}</Inert>,
    description: about === '' ? undefined : about,
    error: error === undefined ? undefined : <Inert>{error}</Inert>,
  };
}
