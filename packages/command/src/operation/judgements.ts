import type { Judgement } from 'assize/internal/runtime';
import { z } from 'zod';
import { findingForm, hash, json, patchForm } from './forms.ts';

const brokenForm = z
  .strictObject({ invariant_id: z.string(), result: z.string(), detail: z.string().optional() })
  .meta({ id: 'BrokenRule', description: 'A rule that the result would break.' });

const statementForm = z
  .looseObject({
    verb: z.string(),
    space: z.string().optional(),
    subject: z.string().optional(),
    predicate: z.string().optional(),
    object: json.optional(),
    valid: z.looseObject({ from: z.string().optional(), to: z.string().optional() }).optional(),
  })
  .meta({ id: 'ForeseenStatement', description: 'A statement of facts that an action makes.' });

const change = {
  changes: z
    .array(patchForm)
    .optional()
    .describe('absent for an agent: it sees only its own slices'),
  calls: z.array(z.strictObject({ tool: z.string(), input: json })),
  statements: z.array(statementForm),
  cost: z.record(z.string(), z.number()),
};
const why = { detail: z.string(), invariant_id: z.string().optional() };

/** The form of a ruling that is only foreseen. */
export const judgementForm = z
  .discriminatedUnion('ruling', [
    z.strictObject({
      ruling: z.literal('committed'),
      overridden: z.array(brokenForm).optional(),
      ...change,
    }),
    z.strictObject({
      ruling: z.literal('escalated'),
      reason: z.string(),
      ...why,
      channel: z.string(),
      approvals: z.number().int(),
      ...change,
    }),
    z.strictObject({
      ruling: z.literal('rejected'),
      reason: z.string(),
      ...why,
      findings: z.array(findingForm).optional(),
    }),
    z.strictObject({ ruling: z.literal('frozen'), by: hash, detail: z.string() }),
    z.strictObject({
      ruling: z.literal('refused'),
      code: z.string().describe('the code of the error that the operation would answer'),
      detail: z.string(),
      broken: z.array(brokenForm).optional(),
      findings: z.array(findingForm).optional(),
    }),
  ])
  .meta({
    id: 'Judgement',
    description: 'A ruling that is only foreseen. The ledger has no entry of it.',
  });

export type JudgementDocument = z.input<typeof judgementForm>;

/** A judgement as the API answers it. `showsChanges`: whether the caller may see the state. */
export function judgementDocument(
  judged: Judgement,
  showsChanges: boolean = true,
): JudgementDocument {
  if (judged.ruling === 'frozen') return { ruling: 'frozen', by: judged.by, detail: judged.detail };
  if (judged.ruling === 'refused') {
    const { code, detail, broken, findings } = judged;
    return {
      ruling: 'refused',
      code,
      detail,
      ...(broken !== undefined && { broken: broken.map(brokenRule) }),
      ...(findings !== undefined && { findings: [...findings] }),
    };
  }
  if (judged.ruling === 'rejected') {
    const { reason, detail, invariantId, findings } = judged;
    return {
      ruling: 'rejected',
      reason,
      detail,
      ...(invariantId !== undefined && { invariant_id: invariantId }),
      ...(findings !== undefined && { findings: [...findings] }),
    };
  }
  const { calls, statements, cost } = judged;
  const change = {
    ...(showsChanges && {
      changes: judged.changes.map(({ op, path, ...rest }) => ({ op, path, ...valueIn(rest) })),
    }),
    calls: calls.map(({ tool, input }) => ({ tool, input })),
    statements: statements.map((statement) => ({ ...statement }) as z.input<typeof statementForm>),
    cost: { ...cost },
  };
  if (judged.ruling === 'committed') {
    const { overridden } = judged;
    return {
      ruling: 'committed',
      ...(overridden !== undefined && { overridden: overridden.map(brokenRule) }),
      ...change,
    };
  }
  const { reason, detail, invariantId, channel, approvals } = judged;
  const named = invariantId === undefined ? {} : { invariant_id: invariantId };
  return { ruling: 'escalated', reason, detail, ...named, channel, approvals, ...change };
}

function valueIn(patch: object): { readonly value?: unknown } {
  return 'value' in patch ? { value: patch.value } : {};
}

function brokenRule({
  invariant_id,
  result,
  detail,
}: {
  invariant_id: string;
  result: string;
  detail?: string;
}) {
  return { invariant_id, result, ...(detail !== undefined && { detail }) };
}
