import { hash, instant } from '@assize/command/operation';
import type { pendingView, Shown } from 'assize/internal/views';
import { z } from 'zod';
import type { Contradiction } from './contradictions.ts';
import type { Undo } from './undo-of.ts';

const amountForm = z
  .strictObject({ currency: z.string(), minor: z.number().int() })
  .meta({ id: 'Amount', description: 'An amount in minor units, such as cents.' });

const fieldForm = z.strictObject({
  at: z.string().describe('JSON Pointer into the arguments'),
  label: z.string(),
  text: z.string(),
  amount: amountForm.optional(),
  unread: z.literal(true).optional().describe('money by the presentation, without an amount'),
});

const contradictionForm = z.strictObject({
  given: z
    .strictObject({ name: z.string(), text: z.string() })
    .describe('`name`: the observation, or `arguments`'),
  remembered: z.strictObject({
    space: z.string(),
    fact: z.string(),
    since: z.string(),
    subject: z.string(),
    predicate: z.string(),
    text: z.string(),
  }),
});

/** The deputies of a request, as its entry names them. */
export const deputiesForm = z
  .array(z.strictObject({ of: z.string(), kind: z.string(), from: instant }))
  .readonly()
  .describe('kinds that may also decide, in place of the kind `of`, each from its time on');

/** The form of a {@link Card}. */
export const cardForm = z
  .strictObject({
    id: hash,
    of: z.enum(['proposal', 'effect']),
    trajectory_id: z.string(),
    seq: z.number().int(),
    at: instant,
    digest: hash.describe('what an approval signs'),
    title: z.string(),
    fields: z.array(fieldForm).readonly(),
    effect: z.string().describe('what an approval does'),
    undo: z
      .strictObject({ can: z.boolean(), by: z.string().optional() })
      .optional()
      .describe('whether the calls can be undone, and by which tools; absent without calls'),
    action: z.string().describe('`server/tool` of a call that the agent makes itself'),
    role: z.strictObject({
      name: z.string(),
      params: z.record(z.string(), z.string()).readonly(),
    }),
    is_gated: z.boolean().describe('whether the agent makes the call itself, after the approval'),
    requester: z.string(),
    stop: z
      .enum(['stopped', 'paused'])
      .optional()
      .describe('of its agent, whose proposals can then only be rejected'),
    detail: z.string().describe('why a person is asked'),
    rule: z.string().optional(),
    channel: z.string(),
    approvals: z.number().int().describe('how many approvals are needed'),
    approved_by: z.array(z.string()),
    deputies: deputiesForm.optional(),
    expires: instant.optional(),
    may_decide: z.boolean().describe('whether the caller may approve or reject now'),
    page: z.string().describe('the path of the page of the console that decides'),
    waiting: z
      .number()
      .int()
      .optional()
      .describe('the other proposals that wait in the trajectory; absent in lists'),
    contradictions: z
      .array(contradictionForm)
      .optional()
      .describe('what the agent was given, against what it remembered; absent in lists'),
  })
  .meta({
    id: 'Card',
    description: 'A proposal in short, as a person reads it before a decision.',
  });

/** A proposal in short, as a person reads it before a decision: in the console or a mail. */
export type Card = z.input<typeof cardForm>;

type View = Pick<
  Awaited<ReturnType<typeof pendingView>>,
  | ('id' | 'of' | 'trajectory_id' | 'seq' | 'at' | 'digest' | 'shown' | 'channel' | 'detail')
  | (
      | 'action'
      | 'approvals'
      | 'approved_by'
      | 'deputies'
      | 'expires'
      | 'invariant_id'
      | 'tools'
      | 'changes'
    )
  | 'effect'
>;

export interface CardParts {
  readonly requester: string;
  readonly undo: Undo | undefined;
  readonly mayDecide: boolean;
  readonly stop?: Card['stop'];
  readonly waiting?: number;
  readonly contradictions?: readonly Contradiction[];
}

export function cardOf(view: View, { requester, undo, mayDecide, stop, ...rest }: CardParts): Card {
  const { id, of, trajectory_id, seq, at, digest, shown, channel, detail, action } = view;
  const { approvals, approved_by, deputies, expires, invariant_id } = view;
  const epoch = view.effect?.epoch;
  const gated = shown.called !== action.name;
  return {
    ...{ id, of, trajectory_id, seq, at, digest, title: shown.title, fields: [...shown.fields] },
    effect: shown.confirm ?? effectOf(view, shown),
    ...(undo !== undefined && { undo }),
    ...{ action: shown.called, role: action.role, is_gated: gated, requester, detail, channel },
    ...(invariant_id !== undefined && { rule: invariant_id }),
    ...{ approvals, approved_by: approved_by.map(({ principal }) => principal) },
    ...(stop !== undefined && { stop }),
    ...(deputies !== undefined && { deputies }),
    ...(expires !== undefined && { expires }),
    ...{ may_decide: mayDecide, page: pagePath({ epoch, pendingId: id }) },
    ...(rest as Pick<Card, 'waiting' | 'contradictions'>),
  };
}

/** The effect of a decision in words, where the domain has none. */
function effectOf({ effect, tools, changes, action }: View, { called }: Shown): string {
  if (effect) return `You say whether ${effect.tool} happened, or it is called again.`;
  if (called !== action.name) return `The agent calls ${called}, once.`;
  const names = [...new Set(tools.flatMap((call) => ('tool' in call ? (call.tool ?? []) : [])))];
  if (names.length > 0) return `Calls ${names.join(', ')}.`;
  if (changes === null) return 'Changes the state, by values that are erased or missing.';
  return changes?.length === 0 ? 'Changes nothing.' : 'Changes the state. No tool is called.';
}

interface Decided {
  /** The transaction of a call that a person settles. Undefined for a proposal. */
  readonly epoch: number | undefined;
  readonly pendingId: string;
}

/** The page of the console on which a person decides. */
export function pagePath({ epoch, pendingId }: Decided): string {
  return epoch === undefined ? `/inbox/${pendingId}` : `/effects/${epoch}`;
}
