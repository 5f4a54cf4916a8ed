import { blockOf } from '../../../tests/support/process/guide-files.ts';

/** A model's answer that completes the scaffold in labs/ontology/docs/draft-module.md. */
export const LIBRARY_ANSWER = JSON.parse(
  blockOf('labs/ontology/docs/draft-module.md', 'json answer.json'),
) as {
  readonly schemas: Readonly<Record<string, string>>;
  readonly initial: Readonly<Record<string, unknown>>;
  readonly actions: readonly object[];
  readonly invariants: Readonly<Record<string, object>>;
};
