import { readInstant } from 'assize/internal/canon';
import { z } from 'zod';
import { ServerError } from './errors.ts';

/** The forms that several operations share. Their names are the names of the OpenAPI document. */

export const hash: z.ZodString = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a whole id: 64 hex digits in lower case');
export const instant: z.ZodString = z.string().describe('UTC with six digits after the second');
/** A time of a query: an instant with any offset, or a day. It is read as an instant in UTC. */
export const time: z.ZodType<string, string> = z
  .string()
  .refine(
    (text) => readInstant(text) !== undefined,
    'must be a time such as 2026-03-23T09:00:00Z, or a day',
  )
  .transform((text) => readInstant(text) as string) as never;
/** The text was read as JSON. A recursive schema would give clients a type without an end. */
export const json: z.ZodType = z
  .any()
  .refine((value) => value !== undefined, 'is missing')
  .meta({ id: 'Json', description: 'Any JSON value.' });
export const name: z.ZodString = z
  .string()
  .min(1)
  .max(512)
  .refine((text) => !text.includes('\0'), 'must not contain U+0000');
/** A value of a query is text, so numbers are read from digits. */
export const digits: z.ZodType<number, string> = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number in digits')
  .transform(Number) as never;
export const flag: z.ZodType<boolean, string> = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true') as never;

export const observationsForm = z
  .array(z.strictObject({ name, value: json, sensitive: z.boolean().optional() }))
  .max(1_000);

export const roleForm = z
  .union([name, z.strictObject({ name, params: z.record(name, name) })])
  .meta({ id: 'Role', description: 'The name of a role, or its name with its parameters.' });

export const patchForm = z
  .strictObject({
    op: z.enum(['add', 'replace', 'remove']),
    path: z.string(),
    value: json.optional(),
  })
  .meta({ id: 'PatchOperation' });

export const findingForm = z
  .strictObject({ pointer: z.string(), message: z.string() })
  .meta({ id: 'Finding', description: 'One misfit, with its JSON pointer.' });

export const callForm = z
  .strictObject({
    id: hash.describe('the idempotency key of the call'),
    tool: z.string(),
    phase: z
      .string()
      .describe(
        '`applied`, `undone` and `accepted` are final; `in_doubt` and `unresolved` need a person',
      ),
    answer: json
      .optional()
      .describe('the answer of the tool; `{"$erased": HASH}` after an erasure'),
    too_long: z.literal(true).optional().describe('the answer was too long to store'),
    unreadable: z
      .literal(true)
      .optional()
      .describe('the call was made, and its answer is not JSON'),
  })
  .meta({
    id: 'CallOutcome',
    description: 'A tool call of a commit, with its phase and its answer.',
  });

const place = {
  trajectory_id: z.string(),
  seq: z.number().int(),
  entry_id: hash,
  request_id: hash
    .optional()
    .describe(
      'the id under which the proposal was first pending: it stays the same over several approvals',
    ),
};
const why = { reason: z.string(), detail: z.string(), invariant_id: z.string().optional() };

export const committedForm = z
  .strictObject({
    ruling: z.literal('committed'),
    ...place,
    unchanged: z.literal(true).optional(),
    effects: z
      .enum(['settled', 'failed', 'needs_human', 'waiting'])
      .optional()
      .describe('the state of the calls together; absent for an action without calls'),
    calls: z.array(callForm).optional(),
  })
  .meta({ id: 'Committed', description: 'The action is committed.' });

export const rejectedForm = z
  .strictObject({ ruling: z.literal('rejected'), ...place, ...why, findings: z.array(findingForm) })
  .meta({
    id: 'Rejected',
    description: 'The action is rejected. `findings` has every misfit of its arguments.',
  });

export const escalatedForm = z
  .strictObject({
    ruling: z.literal('escalated'),
    ...place,
    ...why,
    approval_id: hash,
    channel: z.string(),
    approvals: z.number().int(),
    approved_by: z.array(z.string()),
  })
  .meta({
    id: 'Escalated',
    description: 'A person must decide. `approval_id` names the pending proposal.',
  });

export const frozenForm = z
  .strictObject({
    ruling: z.literal('frozen'),
    by: hash,
    detail: z.string(),
    waiting: z.strictObject({
      action: z.string(),
      channel: z.string(),
      since: instant,
      until: instant.optional(),
    }),
  })
  .meta({
    id: 'Frozen',
    description: 'An open approval blocks the action. Nothing is recorded; propose again.',
  });

/** The interrupt of AG-UI 1.0, for clients that ask for it. */
export const interruptForm = z
  .strictObject({
    outcome: z.strictObject({
      type: z.literal('interrupt'),
      interrupts: z.array(
        z.strictObject({
          id: hash,
          reason: z.string(),
          message: z.string(),
          expiresAt: z.string().optional(),
          responseSchema: json,
          metadata: z.record(z.string(), json),
        }),
      ),
    }),
  })
  .meta({
    id: 'AgUiInterrupt',
    description: 'The answer with `Accept: application/vnd.ag-ui+json`.',
  });

export const rulingForm = z
  .discriminatedUnion('ruling', [committedForm, rejectedForm, escalatedForm, frozenForm])
  .meta({ id: 'Ruling' });

export const documentForm = z
  .looseObject({})
  .meta({ id: 'Document', description: 'A JSON object.' });

export const writForm = z
  .looseObject({
    v: z.literal(1),
    issuer: z.string(),
    subject: z.string(),
    parent: z.string().nullable(),
    trajectory: z.string().optional(),
    actions: z.array(z.string()).optional(),
    scopes: z.array(z.string()).optional(),
    budget: z.record(z.string(), z.number()).optional(),
    require_approval: z.array(z.string()).optional(),
    not_before: instant,
    expires: instant,
    max_depth: z.number().int(),
    nonce: z.string(),
    signature: z.string(),
  })
  .meta({ id: 'Writ' });

/** The content of a file. */
export const fileForm = z.string().meta({ format: 'binary' });

export const amounts = z.record(name, z.number().int().nonnegative()).meta({ id: 'Amounts' });

export const page = {
  cursor: name.optional().describe('`next` of the page before'),
  limit: digits.pipe(z.number().int().min(1).max(500)).optional().describe('1 to 500; default 100'),
};
export const next: z.ZodOptional<z.ZodString> = z
  .string()
  .optional()
  .describe('the cursor of the next page; absent on the last one');

export const PAGE_DEFAULT = 100;

/** The refusal of a cursor that no page gave. */
export function badCursor(): ServerError {
  const findings = [{ pointer: '/query/cursor', message: 'must be the `next` of a page' }];
  return new ServerError(
    'invalid_request',
    'The request is not valid: /query/cursor must be the `next` of a page.',
    {
      evidence: { findings },
    },
  );
}

export const factForm = z
  .looseObject({
    fact_id: z.string(),
    subject: z.string(),
    predicate: z.string(),
    object: z.string(),
    valid_from: instant,
    valid_to: instant,
    system_time_start: instant,
    system_time_end: instant,
    confidence: z.number(),
    row_kind: z
      .enum(['current', 'audit'])
      .describe('audit: an assertion that lost a contradiction'),
    resolution_strategy_id: z.string(),
    provenance_id: z.string(),
    lineage: z.string().describe('the claim that the version derives from'),
    entry_id: z.string(),
  })
  .meta({ id: 'Fact', description: 'A version of a fact, with both of its times.' });

export const shownRulingForm: z.ZodType = z
  .looseObject({
    ruling: z.enum(['committed', 'rejected', 'escalated']),
    reason: z.string().optional(),
    invariant_id: z.string().optional(),
    rule: z.string().optional().describe('the rule of the policy that denied or required approval'),
    channel: z.string().optional(),
    approvals: z.number().int().optional(),
    detail: z.string().optional(),
  })
  .meta({ id: 'ShownRuling', description: 'A ruling of a backtest, recorded or new.' });

export const domainRefForm = z.strictObject({
  name: z.string(),
  version: z.string(),
  hash: z.string(),
});
