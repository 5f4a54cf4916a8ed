import { z } from 'zod';
import { segment } from '#authority';
import type { Json } from '#base';
import { copyJson, issueText, type SchemaIssues } from '#canon';
import type { ActionSpec } from '../domain/domain.ts';
import { refusePromise } from '../domain/host-code.ts';
import { BELIEVE_ACTION, NAME_MAX, strategy } from '../domain/memory-shape.ts';
import type {
  MemorySpec,
  MemoryStatement,
  StatementAuthor,
  StatementMetadata,
  StatementTarget,
} from '../domain/memory-spec.ts';
import { messageOf } from '../errors.ts';

const OBJECT_MAX = 16_384;
/** Maximum number of statements in one proposal. All of them are in one entry. */
export const STATEMENTS_MAX = 1_000;

const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine(
      (value) => value.isWellFormed() && !value.includes('\0'),
      'no U+0000, and no half of a surrogate pair',
    );
// A longer text was already refused, and composing it could take very long.
const name = text(NAME_MAX).refine(
  (value) => value.length > NAME_MAX || value === value.normalize('NFC'),
  "Unicode's composed form (NFC)",
);

/**
 * The schemas of a statement's texts, for callers that build statements from outside data: subjects
 * and predicates, objects, sources.
 */
export const STATEMENT_TEXTS: {
  readonly name: z.ZodType<string>;
  readonly object: z.ZodType<string>;
  readonly source: z.ZodType<string>;
} = Object.freeze({ name, object: text(OBJECT_MAX), source: text(NAME_MAX) });

const METADATA_MEMBERS_MAX = 16;

/** The schema of the metadata of a statement, for callers that take it from outside. */
export const STATEMENT_METADATA: z.ZodType<StatementMetadata> = z
  .record(text(64), z.union([text(256), z.number(), z.boolean()]))
  .refine(
    (value) => Object.keys(value).length >= 1 && Object.keys(value).length <= METADATA_MEMBERS_MAX,
    `1 to ${METADATA_MEMBERS_MAX} members`,
  );

/** The schema of the author of a statement. */
export const STATEMENT_AUTHOR: z.ZodType<StatementAuthor> = z.strictObject({
  role: z.enum(['user', 'assistant']),
  name: name.optional(),
  shared: z.literal(true).optional(),
}) as z.ZodType<StatementAuthor>;

const said = { space: name, subject: name, predicate: name };
const claimed = {
  ...said,
  object: text(OBJECT_MAX),
  confidence: z.number().min(0).max(1).optional(),
  source: text(NAME_MAX).optional(),
  metadata: STATEMENT_METADATA.optional(),
  author: STATEMENT_AUTHOR.optional(),
};
const wholePeriod = z.strictObject({ from: z.string(), to: z.string() });
const place = z.strictObject({ entry: z.string().regex(/^[0-9a-f]{64}$/), n: z.int().min(0) });
const SAYING = z.discriminatedUnion('verb', [
  z.strictObject({
    verb: z.literal('assert'),
    ...claimed,
    valid: z.strictObject({ from: z.string().optional(), to: z.string().optional() }).optional(),
    ends: z.literal(true).optional(),
    strategy: strategy.optional(),
  }),
  z.strictObject({ verb: z.literal('change'), ...claimed, from: z.string().optional() }),
  z.strictObject({
    verb: z.literal('correct'),
    ...claimed,
    valid: wholePeriod,
    was: text(OBJECT_MAX).optional(),
  }),
  z.strictObject({
    verb: z.literal('retract'),
    ...said,
    valid: wholePeriod,
    object: text(OBJECT_MAX).optional(),
  }),
  z
    .strictObject({
      verb: z.literal('withdraw'),
      ...said,
      source: text(NAME_MAX).optional(),
      statements: z.array(place).min(1).max(STATEMENTS_MAX).optional(),
    })
    .refine(
      (one) => (one.source === undefined) !== (one.statements === undefined),
      'a source, or statements',
    ),
]);
const SAYINGS = z.array(SAYING).max(STATEMENTS_MAX);
/** Changes no state. Its statements are in its arguments. */
export const believeAction: ActionSpec = Object.freeze({
  process: BELIEVE_ACTION,
  args: z.strictObject({ sayings: SAYINGS.min(1) }),
  apply: () => {},
  beliefs: (args: { readonly sayings: readonly MemoryStatement[] }) => args.sayings,
});

type Statements =
  | { readonly statements: readonly MemoryStatement[] }
  | { readonly fault: string; readonly code?: string };

const NO_STATEMENTS: Statements = Object.freeze({ statements: Object.freeze([]) });

/**
 * The statements of an action, as a copy. Arguments and role are frozen. Returns a fault if the
 * value is not a list of statements, or names an undeclared predicate.
 */
export function statementsOf(
  memory: MemorySpec | undefined,
  action: ActionSpec,
  args: Json,
  { role }: { readonly role: Readonly<Record<string, string>> },
): Statements {
  if (action.beliefs === undefined) return NO_STATEMENTS;
  let given: unknown;
  try {
    given = action.beliefs(args, { role });
    refusePromise(given, 'beliefs');
  } catch (error) {
    return { fault: messageOf(error) };
  }
  const parsed = SAYINGS.safeParse(given);
  if (!parsed.success)
    return {
      fault: `its statements are not valid: ${issueText(parsed.error)}`,
      ...issueCode(parsed.error),
    };
  return declaredStatements(memory, copyJson(parsed.data) as unknown as readonly MemoryStatement[]);
}

/** The statements, if the domain declares their predicates. */
export function declaredStatements(
  memory: MemorySpec | undefined,
  statements: readonly MemoryStatement[],
): Statements {
  const declared = memory?.predicates ?? {};
  const unknown = statements.find(({ predicate }) => !Object.hasOwn(declared, predicate));
  if (unknown !== undefined)
    return {
      fault: `the domain declares no predicate ${JSON.stringify(unknown.predicate)} in its memory`,
      code: 'unknown_predicate',
    };
  return { statements };
}

/** By the field at fault. */
const CODES: Readonly<Record<string, string>> = {
  confidence: 'bad_confidence',
  metadata: 'bad_metadata',
  strategy: 'unknown_strategy',
  from: 'no_instant',
  to: 'no_instant',
  ...Object.fromEntries(
    [
      'space',
      'subject',
      'predicate',
      'object',
      'source',
      'was',
      'author',
      'role',
      'name',
      'shared',
    ].map((name) => [name, 'bad_text']),
  ),
};

/**
 * The code that `memory/errors.ts` has for the fault of a statement, if there is one. So a
 * rejection shows the name of a memory's error. A missing field is reported first and has no code.
 */
export function issueCode({ issues }: SchemaIssues): { readonly code?: string } {
  if (issues.some(({ code }) => code === 'unrecognized_keys')) return {};
  const member = String(issues[0]?.path.at(-1));
  return Object.hasOwn(CODES, member) ? { code: CODES[member] as string } : {};
}

/**
 * The resource that a writ must cover for a statement on a subject:
 * `memory:clinic:patient~3a7:allergy`.
 */
export function memoryScope(said: StatementTarget): string {
  const { space, subject, predicate } = said;
  return ['memory', ...[space, subject, predicate].map(segment)].join(':');
}
