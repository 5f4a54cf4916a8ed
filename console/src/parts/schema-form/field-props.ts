import type { Finding } from './findings.ts';
import type { Resolved } from './schema.ts';

/** One field of the form, for a part of the value. */
export interface FieldProps {
  readonly name: string;
  /** Whether the name comes from the value and not from the schema. */
  readonly isForeign?: boolean;
  readonly path: readonly string[];
  readonly part: Resolved;
  readonly value: unknown;
  /** `undefined` removes an optional member. */
  readonly onChange: (next: unknown) => void;
  readonly isRequired: boolean;
  readonly findings: readonly Finding[];
}
