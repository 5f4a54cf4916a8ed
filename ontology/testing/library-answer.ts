import { blockOf } from '../../tests/support/process/guide-files.ts';

/** The answer of a model that completes the library's scaffold (ontology/docs/draft-module.md). */
export const LIBRARY_ANSWER = JSON.parse(blockOf('ontology/docs/draft-module.md', 'json answer.json')) as {
  readonly schemas: Readonly<Record<string, string>>;
  readonly initial: Readonly<Record<string, unknown>>;
  readonly actions: readonly object[];
  readonly invariants: Readonly<Record<string, object>>;
};
