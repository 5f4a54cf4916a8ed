import type { Tool } from '@modelcontextprotocol/server';
import { visible } from '../upstream/definitions.ts';
import type { ApiRequest } from './operation-tool.ts';

/** A decision that a model prepares, and that the person at the client confirms. */
export interface Decision {
  readonly decision: 'approve' | 'reject';
  readonly approval: string;
  readonly digest: string;
  readonly reason: string;
}

/** The longest question to a person at a client, in characters. */
const QUESTION_MAX = 8_000;
const REASON_MAX = 4_096;
const HASH = /^[0-9a-f]{64}$/;

const hash = (description: string) => ({ type: 'string', pattern: HASH.source, description });

/** The tools that decide, for clients that can ask their person. */
export const DECIDING: readonly Tool[] = (['approve', 'reject'] as const).map((decision): Tool => {
  const does = decision === 'approve' ? 'Approve' : 'Reject';
  return {
    name: `approvals_${decision}`,
    title: `${does} an item of the inbox`,
    description:
      `${does} exactly the call that approvals_get shows. Use it only when the user asks for this decision. ` +
      'The client shows the whole call to its person, and nothing is decided until that person confirms.',
    inputSchema: {
      type: 'object',
      properties: {
        approval: hash('`id` of the item'),
        digest: hash('`digest` of the item, as approvals_get shows it'),
        reason: {
          type: 'string',
          minLength: 1,
          maxLength: REASON_MAX,
          description: 'the user’s reason, recorded',
        },
      },
      required: decision === 'approve' ? ['approval', 'digest'] : ['approval', 'digest', 'reason'],
      additionalProperties: false,
    },
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
  };
});

/** The decision that the arguments of a deciding tool name, or their fault as text. */
export function decisionIn(
  name: string,
  args: Readonly<Record<string, unknown>>,
): Decision | string {
  const decision = name === 'approvals_approve' ? 'approve' : 'reject';
  const { approval, digest, reason = '', ...others } = args;
  const [other] = Object.keys(others);
  if (other !== undefined)
    return `There is no argument ${JSON.stringify(other)}. Change a call in the console.`;
  if (typeof approval !== 'string' || !HASH.test(approval))
    return '`approval` must be the whole `id` of the item.';
  if (typeof digest !== 'string' || !HASH.test(digest))
    return '`digest` must be the whole digest that approvals_get shows. Nothing is decided without it.';
  if (typeof reason !== 'string' || reason.length > REASON_MAX)
    return `\`reason\` must be a text of at most ${REASON_MAX} characters.`;
  if (decision === 'reject' && reason.trim() === '')
    return 'A rejection needs a `reason`: ask the user for it.';
  return { decision, approval, digest, reason };
}

export function isSameDecision(a: Decision, b: Decision): boolean {
  return (
    a.decision === b.decision &&
    a.approval === b.approval &&
    a.digest === b.digest &&
    a.reason === b.reason
  );
}

/** The request that records a decision. It names the digest that the person was shown. */
export function decisionRequest({ decision, approval, digest, reason }: Decision): ApiRequest {
  const body = { digest, via: 'elicitation', ...(reason !== '' && { reason }) };
  return { method: 'POST', path: `/v1/approvals/${approval}/${decision}`, body };
}

/** A pending item, as `approvals.get` answers it. */
export interface Item {
  readonly digest: string;
  readonly may_decide: boolean;
  readonly deciders: readonly string[];
  readonly changes: unknown;
  readonly questions?: readonly unknown[] | null;
  readonly action: { readonly args?: unknown };
  readonly [member: string]: unknown;
}

/** Why an item cannot be decided at a client. `page` is its page in the console. */
export function hindrance(
  item: Item,
  { decision, digest }: Decision,
  page: string,
): string | undefined {
  if (item.digest !== digest)
    return 'That is not the digest of this item, so nothing is decided. Show the item again with approvals_get.';
  if (!item.may_decide) {
    const deciders =
      item.deciders.length === 0 ? 'none of the configuration' : item.deciders.join(', ');
    return `This principal may not decide about the item. Its deciders: ${deciders}.`;
  }
  if (decision === 'approve' && item.questions !== undefined)
    return `The item asks which of several claims is right. It is answered in the console: ${page}`;
  if (item.action.args === undefined || item.changes === null)
    return `Parts of the item are erased. Decide in the console: ${page}`;
  return undefined;
}

/** The members of an item that the question shows, in this order, each in full. */
const SHOWN = [
  ...[
    'trajectory_id',
    'requester',
    'action',
    'tools',
    'changes',
    'budget_cost',
    'detail',
    'invariant_id',
  ],
  ...['observations', 'questions', 'withdrawn', 'approvals', 'approved_by', 'expires', 'digest'],
];

/**
 * The question to the person, with the whole call. Undefined if it is too long to be read there.
 * Each value is JSON, so no text of an agent can look like another line of the question.
 */
export function questionText(
  item: Item,
  { decision, reason }: Decision,
  page: string,
): string | undefined {
  const asked = decision === 'approve' ? 'Approve exactly this call, once?' : 'Reject this call?';
  const lines = SHOWN.filter((name) => item[name] !== undefined).map(
    (name) => `${name}: ${JSON.stringify(item[name], null, 2)}`,
  );
  const text = [
    asked,
    ...lines,
    `reason to record: ${JSON.stringify(reason)}`,
    `console: ${page}`,
  ].join('\n');
  const shown = visible(text);
  return shown.length > QUESTION_MAX ? undefined : shown;
}
