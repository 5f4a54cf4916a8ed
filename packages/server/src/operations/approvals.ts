import { setImmediate } from 'node:timers/promises';
import {
  ANYBODY,
  awaitDecision,
  badCursor,
  type Caller,
  callerTrajectory,
  documentForm,
  flag,
  hash,
  instant,
  isOfKind,
  json,
  judgementDocument,
  judgementForm,
  name,
  next,
  type Operation,
  PAGE_DEFAULT,
  page,
  patchForm,
  READERS,
  roleForm,
  rulingForm,
  ServerError,
  sameAsOneOf,
} from '@assize/command/operation';
import { isAssizeError, isInstance, type Json } from 'assize/internal/base';
import { addMicros, hashText } from 'assize/internal/canon';
import { isSamePrincipal, presentation } from 'assize/internal/kernel';
import {
  type EntryRow,
  isEffectPending,
  isExpired,
  LedgerFault,
  type PendingPayload,
  type ProposalRecord,
  principalsOf,
  readRow,
  tokenMakersIn,
  ValueReader,
} from 'assize/internal/ledger';
import {
  type ApprovalInput,
  type ListedPending,
  type Ruling,
  Trajectory,
} from 'assize/internal/runtime';
import { pendingParts, pendingView, recallOf, rulingView } from 'assize/internal/views';
import { z } from 'zod';
import { cardForm, cardOf, deputiesForm } from '../card/card.ts';
import { contradictionsIn } from '../card/contradictions.ts';
import { readableIn, requesterOf } from '../card/notice-card.ts';
import { recalledIn } from '../card/recalled-in.ts';
import { undoOf } from '../card/undo-of.ts';
import { decidersIn } from '../notices/mail/deciders-in.ts';
import { grantorsOf, requireActive, requireOther, stopAmong } from '../principals/issuers.ts';
import { problemOf } from '../problems/problem.ts';
import { operation, type ServerService } from '../service.ts';

const plannedCallForm = z
  .looseObject({ id: hash, tool: z.string().optional(), input: json.optional() })
  .meta({
    id: 'PlannedCall',
    description: 'A tool call that runs after the approval. Erased calls have no input.',
  });

const observationForm = z
  .strictObject({
    name: z.string(),
    value: json.optional(),
    oracle_key: hash.optional(),
  })
  .meta({
    id: 'Observation',
    description: 'An observation of a proposal. An erased value is absent.',
  });

const memberForm = z
  .strictObject({
    claim: hash,
    ends: z.boolean().optional(),
    object: json,
    confidence: z.number(),
    valid: z.array(z.strictObject({ from: z.string(), to: z.string() })),
  })
  .meta({ id: 'QuestionMember', description: 'One of the claims that contradict each other.' });

const questionForm = z
  .strictObject({
    request: hash,
    space: z.string(),
    subject: z.string(),
    predicate: z.string(),
    members: z.array(memberForm),
  })
  .meta({
    id: 'Question',
    description: 'A contradiction between claims. The claim of one member wins.',
  });

const heldRoleForm = z.strictObject({
  name: z.string(),
  params: z.record(z.string(), z.string()).readonly(),
});

const approvalForm = z
  .looseObject({
    id: hash,
    of: z
      .enum(['proposal', 'effect'])
      .describe('`effect`: a call whose outcome a person must settle, by `effects.resolve`'),
    request_id: hash.describe(
      'the id under which the proposal was first pending; it stays the same over several approvals',
    ),
    trajectory_id: z.string(),
    seq: z.number().int(),
    at: instant,
    digest: hash,
    action: z
      .strictObject({ name: z.string(), role: heldRoleForm, args: json.optional() })
      .describe('without `args` after an erasure'),
    card: cardForm,
    present: presentation.optional().describe('the presentation that the words of `card` are of'),
    changes: z
      .array(patchForm)
      .nullable()
      .describe('from the state before to the state after (RFC 6902); null after an erasure'),
    tools: z.array(plannedCallForm),
    budget_cost: z.record(z.string(), z.number()),
    channel: z.string(),
    approvals: z.number().int().describe('how many approvals are needed'),
    approved_by: z.array(z.looseObject({ principal: z.string(), reason: z.string().optional() })),
    reason: z.string(),
    invariant_id: z.string().optional(),
    detail: z.string(),
    freezes: z.union([z.literal('world'), z.array(z.string()).readonly()]),
    observations: z.array(observationForm).describe('what the agent had observed'),
    questions: z
      .array(questionForm)
      .nullable()
      .optional()
      .describe(
        'contradictions: an approval chooses a winner of each (`answers`); null after an erasure',
      ),
    deputies: deputiesForm.optional(),
    expires: instant.optional(),
    requester: z.string(),
    deciders: z.array(z.string()).describe('principals of the configuration that may decide now'),
    may_decide: z.boolean().describe('whether the caller may approve or reject now'),
  })
  .meta({
    id: 'Approval',
    description: 'A pending proposal: its calls, changes, cost, rule and deadline.',
  });

const listedForm = approvalForm.omit({ card: true }).meta({
  id: 'ListedApproval',
  description: 'A pending proposal in a list, without the card that repeats parts of it.',
});

const faultForm = z.strictObject({ trajectory_id: z.string(), detail: z.string() }).meta({
  id: 'LedgerFault',
  description: 'A trajectory that does not verify: its open requests until the fault count.',
});

const cardView = z
  .literal('card')
  .optional()
  .describe('`card`: what a person reads before the decision, without long values');

const list = operation({
  id: 'approvals.list',
  method: 'get',
  path: '/v1/approvals',
  summary: 'Pending proposals, oldest first in each trajectory. An agent sees its own.',
  kinds: ANYBODY,
  query: z.strictObject({
    trajectory: name.optional(),
    channel: name.optional(),
    action: name.optional(),
    requester: name.optional(),
    mine: flag
      .optional()
      .describe('only proposals that the caller may decide, and calls that it may settle'),
    view: cardView,
    ...page,
  }),
  answer: z.strictObject({
    approvals: z.array(listedForm).describe('empty with `view=card`'),
    cards: z.array(cardForm).optional().describe('with `view=card`'),
    faults: z
      .array(faultForm)
      .optional()
      .describe('nothing there can be decided before its operator acts'),
    next,
  }),
  run: async ({ query, caller, service, signal }) => {
    const {
      trajectory,
      channel,
      action,
      requester,
      mine = false,
      view,
      cursor,
      limit = PAGE_DEFAULT,
    } = query;
    const approvals: z.input<typeof approvalForm>[] = [];
    const faults: z.input<typeof faultForm>[] = [];
    const onFault = isOfKind(caller, READERS)
      ? (fault: (typeof faults)[number]) => faults.push(fault)
      : () => {};
    let last: string | undefined;
    for await (const pending of openFrom(service, placeIn(cursor), trajectory, onFault)) {
      signal.throwIfAborted();
      if (channel !== undefined && pending.channel !== channel) continue;
      if (action !== undefined && pending.action !== action) continue;
      if (mine && !(await mayDecide(caller, service, pending))) continue;
      const shown = await shownTo(caller, service, pending).catch((error: unknown) => {
        if (!isInstance(error, LedgerFault)) throw error;
        onFault({ trajectory_id: pending.trajectoryId, detail: error.message });
        return undefined;
      });
      if (shown === undefined) continue;
      if (mine && !shown.deciders.includes(caller.name)) continue;
      if (requester !== undefined && shown.requester !== requester) continue;
      if (approvals.length === limit) return pageOf(approvals, view, faults, last);
      approvals.push(shown);
      last = `${pending.trajectoryId}@${pending.seq}`;
    }
    return pageOf(approvals, view, faults);
  },
});

function pageOf(
  approvals: z.input<typeof approvalForm>[],
  view: 'card' | undefined,
  faults: z.input<typeof faultForm>[],
  next?: string,
) {
  const body = {
    ...(view === 'card'
      ? { approvals: [], cards: approvals.map(({ card }) => card) }
      : { approvals: approvals.map(({ card: _, ...listed }) => listed) }),
    ...(faults.length > 0 && { faults }),
    ...(next !== undefined && { next }),
  };
  // The deciders differ by caller and time.
  return { body, etag: hashText(JSON.stringify(body)) };
}

interface Place {
  readonly trajectoryId: string;
  readonly seq: number;
}

/**
 * The place that a cursor names. It is a position, so the proposal there may be decided meanwhile.
 *
 * @throws ServerError `invalid_request`
 */
function placeIn(cursor: string | undefined): Place {
  if (cursor === undefined) return { trajectoryId: '', seq: -1 };
  const [, trajectoryId, seq] = /^(.+)@(\d{1,15})$/.exec(cursor) ?? [];
  if (trajectoryId !== undefined) return { trajectoryId, seq: Number(seq) };
  throw badCursor();
}

/** The proposals that are read without a turn of other requests. */
const READ_IN_TURN = 16;

type Listed = ListedPending & Pick<Pending, 'trajectoryId'>;

/** The payload stays unread: each is copied when it is shown. */
function inTrajectory(trajectoryId: string, listed: ListedPending): Listed {
  const { id, seq, channel, action } = listed;
  return {
    ...{ trajectoryId, id, seq, channel, action },
    get payload() {
      return listed.payload;
    },
  };
}

/** The open proposals after a place, by trajectory and position. Reads no trajectory ahead. */
async function* openFrom(
  service: ServerService,
  after: Place,
  only: string | undefined,
  onFault: OnFault,
): AsyncGenerator<Listed> {
  const names = only === undefined ? await service.assize.namesToReview() : [only];
  for (const trajectoryId of names
    .filter((name) => name >= after.trajectoryId)
    .sort((a, b) => (a < b ? -1 : 1))) {
    const from = trajectoryId === after.trajectoryId ? after.seq : -1;
    let read = 0;
    for (const listed of await openIn(service, trajectoryId, onFault)) {
      if (listed.seq <= from) continue;
      // Other requests get a turn between many proposals that are not shown.
      if (read++ % READ_IN_TURN === READ_IN_TURN - 1) await setImmediate();
      yield inTrajectory(trajectoryId, listed);
    }
  }
}

type OnFault = (fault: z.input<typeof faultForm>) => void;

/**
 * The open proposals of a trajectory, from memory if it is open. Where an entry does not verify,
 * those before it, and the fault.
 */
async function openIn(
  { assize }: ServerService,
  trajectoryId: string,
  onFault: OnFault,
): Promise<readonly Omit<Listed, 'trajectoryId'>[]> {
  try {
    const trajectory = await assize.open(trajectoryId);
    await Trajectory.catchUp(trajectory);
    return trajectory.approvals.pending();
  } catch (error) {
    const isFaulty = isAssizeError(error, 'invalid_ledger');
    if (isFaulty)
      onFault({
        trajectory_id: trajectoryId,
        detail: `${error.message} Find it with assize verify.`,
      });
    const open: Omit<Listed, 'trajectoryId'>[] = [];
    try {
      for await (const { id, payload } of assize.pending({ trajectoryId })) {
        // A trajectory of an unknown domain is of no account if nothing waits there.
        if (!isFaulty) throw error;
        open.push({
          id,
          payload,
          seq: payload.seq,
          channel: payload.channel,
          action: payload.proposal.action.name,
        });
      }
    } catch (cause) {
      if (!isFaulty || !isAssizeError(cause, 'invalid_ledger')) throw cause;
    }
    return open;
  }
}

const get = operation({
  id: 'approvals.get',
  method: 'get',
  path: '/v1/approvals/{approval}',
  summary:
    'A proposal that waits or waited. With `Prefer: wait=N` the answer waits for the decision.',
  kinds: ANYBODY,
  params: z.strictObject({ approval: hash }),
  query: z.strictObject({ view: cardView }),
  answer: z.strictObject({
    status: z.enum(['pending', 'resolved', 'void']),
    approval: approvalForm.optional().describe('absent with `view=card`'),
    card: cardForm.optional().describe('with `view=card`'),
    ruling: rulingForm.optional(),
  }),
  isWaiting: true,
  errors: ['not_found'],
  run: async (request) => {
    const { path, caller, service, waitSeconds } = request;
    const { trajectory, row } = await pendingOf(request, path.approval);
    const pending = readRow(row).payload as PendingPayload;
    if (
      (await shownTo(caller, service, {
        trajectoryId: trajectory.id,
        id: row.id,
        payload: pending,
      })) === undefined
    )
      throw noApproval(path.approval);
    if (waitSeconds > 0) {
      const until = addMicros(service.clock.now(), waitSeconds * 1_000_000);
      const writ = isOfKind(caller, READERS)
        ? undefined
        : Trajectory.writOf(trajectory, pending.proposal.writ_id);
      await awaitDecision(request, trajectory, { pending: row.id, until, writ }).catch(
        (error: unknown) => {
          if (!isAssizeError(error, 'still_pending') && !isAssizeError(error, 'concluded'))
            throw error;
        },
      );
    }
    const found = await trajectory.approvals.statusOf(row.id);
    if (found.status === 'resolved')
      return { body: { status: 'resolved' as const, ruling: rulingView(found.ruling) } };
    if (found.status === 'void') return { body: { status: 'void' as const } };
    const shown = { trajectoryId: trajectory.id, id: found.id, payload: found.payload };
    const whole = (await shownTo(caller, service, shown)) as z.input<typeof approvalForm>;
    const approval = isOfKind(caller, READERS)
      ? await withContext(service, trajectory, whole)
      : whole;
    // After the first of several approvals, the proposal waits under another id.
    const open = found.id === row.id ? row : await service.store.resolve(found.id);
    const ruling = rulingView(await service.assize.rulingAt(open as EntryRow));
    const asked = request.query.view === 'card' ? { card: approval.card } : { approval };
    const body = { status: 'pending' as const, ...asked, ruling };
    // The deciders differ by caller and time.
    return { body, etag: hashText(JSON.stringify(body)) };
  },
});

const digest = hash.describe('the digest that the person was shown; another one is refused');
const via = z
  .literal('elicitation')
  .optional()
  .describe('how the person was asked, if not by a page: the approval records it as its method');
const answers = z.array(z.strictObject({ request: hash, winner: hash })).max(100);

const approve = operation({
  id: 'approvals.approve',
  method: 'post',
  path: '/v1/approvals/{approval}/approve',
  summary: 'Approve exactly the shown proposal, or the same action with other arguments.',
  kinds: ['counselor'],
  params: z.strictObject({ approval: hash }),
  body: z
    .strictObject({
      digest,
      reason: z.string().max(4_096).optional(),
      override: z
        .boolean()
        .optional()
        .describe('overrides the rules that the result breaks; it needs a `reason`'),
      args: json.optional(),
      role: roleForm.optional(),
      answers: answers.optional(),
      via,
    })
    .refine(({ override = false, reason = '' }) => !override || reason.trim() !== '', {
      path: ['reason'],
      message: 'an override needs a reason: say why these rules do not hold here',
    })
    .meta({ id: 'ApprovalDecision' }),
  answer: rulingForm,
  errors: [
    ...[
      'unauthorised_counselor',
      'digest_mismatch',
      'not_pending',
      'changed_since',
      'override_needed',
      'halted',
    ],
    'agent_stopped',
  ],
  run: async (request) => {
    const { path, body } = request;
    const { trajectory, row } = await pendingOf(request, path.approval);
    await requireOther(request, trajectory, proposalIn(row));
    return { body: rulingView(await approveAs(request, trajectory, row, body)) };
  },
});

const judge = operation({
  id: 'approvals.judge',
  method: 'post',
  path: '/v1/approvals/{approval}/judge',
  summary:
    'What the caller’s approval would do, also with other arguments. Nothing is recorded, and no tool is called.',
  kinds: ['counselor'],
  params: z.strictObject({ approval: hash }),
  body: z
    .strictObject({
      digest: digest.optional(),
      override: z.boolean().optional(),
      args: json.optional(),
      role: roleForm.optional(),
      answers: answers.optional(),
    })
    .meta({ id: 'ForeseenDecision' }),
  answer: judgementForm,
  errors: ['digest_mismatch', 'not_pending'],
  run: async (request) => {
    const { path, body } = request;
    const { trajectory, row } = await pendingOf(request, path.approval);
    try {
      await requireOther(request, trajectory, proposalIn(row));
      await requireActive(request, trajectory, proposalIn(row).writ_id);
    } catch (error) {
      if (!isAssizeError(error, 'unauthorised_counselor') && !isAssizeError(error, 'agent_stopped'))
        throw error;
      return { body: { ruling: 'refused' as const, code: error.code, detail: error.message } };
    }
    return {
      body: judgementDocument(await trajectory.approvals.judge(row.id, inputOf(request, body))),
    };
  },
});

const reject = operation({
  id: 'approvals.reject',
  method: 'post',
  path: '/v1/approvals/{approval}/reject',
  summary: 'Reject a pending proposal.',
  kinds: ['counselor'],
  params: z.strictObject({ approval: hash }),
  body: z
    .strictObject({ reason: z.string().min(1).max(4_096), digest: digest.optional(), via })
    .meta({ id: 'RejectionDecision' }),
  answer: rulingForm,
  errors: ['unauthorised_counselor', 'digest_mismatch', 'not_pending'],
  run: async (request) => {
    const { path, body, caller } = request;
    const { trajectory, row } = await pendingOf(request, path.approval);
    const decision = { ...decidedAs(caller, body.via), reason: body.reason };
    const given = body.digest === undefined ? decision : { ...decision, digest: body.digest };
    await requireOther(request, trajectory, proposalIn(row));
    return { body: rulingView(await trajectory.approvals.reject(row.id, given)) };
  },
});

const decideMany = operation({
  id: 'approvals.decide',
  method: 'post',
  path: '/v1/approvals/decide',
  summary: 'Approve or reject many proposals with one reason. Each is decided alone, in order.',
  kinds: ['counselor'],
  body: z
    .strictObject({
      decision: z.enum(['approve', 'reject']),
      reason: z.string().min(1).max(4_096),
      items: z
        .array(z.strictObject({ id: hash, digest }))
        .min(1)
        .max(200),
    })
    .meta({ id: 'ManyDecisions' }),
  answer: z.strictObject({
    results: z.array(
      z.strictObject({ id: hash, ruling: rulingForm.optional(), problem: documentForm.optional() }),
    ),
  }),
  run: async (request) => {
    const { decision, reason, items } = request.body;
    const results = [];
    for (const { id, digest } of items) {
      try {
        const ruling = await decideOne(request, { decision, reason, id, digest });
        results.push({ id, ruling: rulingView(ruling) });
      } catch (error) {
        if (!isAssizeError(error)) throw error;
        results.push({
          id,
          problem: { ...problemOf(request.service.deployment?.explained(error) ?? error) },
        });
      }
    }
    return { body: { results } };
  },
});

/** A decision about the proposal as it was shown, without changes to it. */
export type OneDecision =
  | { readonly decision: 'approve'; readonly reason?: string }
  | { readonly decision: 'reject'; readonly reason: string };

/** Approves or rejects a pending proposal as the caller. @throws the errors of both operations */
export async function decideOne(
  reaching: AuthorisedRequest,
  { id, digest, ...one }: OneDecision & { readonly id: string; readonly digest: string },
): Promise<Ruling> {
  const { trajectory, row } = await pendingOf(reaching, id);
  await requireOther(reaching, trajectory, proposalIn(row));
  if (one.decision === 'approve')
    return approveAs(reaching, trajectory, row, { digest, reason: one.reason });
  const { reason } = one;
  return trajectory.approvals.reject(row.id, { ...decidedAs(reaching.caller), reason, digest });
}

interface Decision {
  readonly digest?: string | undefined;
  readonly reason?: string | undefined;
  readonly override?: boolean | undefined;
  readonly args?: unknown;
  readonly role?: ApprovalInput['role'] | undefined;
  readonly answers?: ApprovalInput['answers'] | undefined;
  readonly via?: string | undefined;
}

async function approveAs(
  reaching: AuthorisedRequest,
  trajectory: Trajectory,
  row: EntryRow,
  decision: Decision,
): Promise<Ruling> {
  await requireActive(reaching, trajectory, proposalIn(row).writ_id);
  return trajectory.approvals.approve(row.id, inputOf(reaching, decision));
}

function inputOf({ caller }: Pick<AuthorisedRequest, 'caller'>, decision: Decision): ApprovalInput {
  const { digest, reason, override, args, role, answers, via } = decision;
  return {
    ...decidedAs(caller, via),
    ...(digest !== undefined && { digest }),
    ...(reason !== undefined && { reason }),
    ...(override !== undefined && { override }),
    ...(args !== undefined && { args }),
    ...(role !== undefined && { role }),
    ...(answers !== undefined && { answers }),
  };
}

/** The caller as the counselor of a decision. */
function decidedAs({ name, method, tokenBy = [] }: Caller, via: string = method) {
  return { principal: name, method: via, tokenBy };
}

function proposalIn(row: EntryRow): ProposalRecord {
  return (readRow(row).payload as PendingPayload).proposal;
}

interface AuthorisedRequest {
  readonly caller: Caller;
  readonly service: ServerService;
}

/** The entry of a pending proposal, with its trajectory. @throws ServerError `not_found` */
async function pendingOf(
  reaching: AuthorisedRequest,
  id: string,
): Promise<{ readonly trajectory: Trajectory; readonly row: EntryRow }> {
  const row = await reaching.service.store.resolve(id);
  if (row?.kind !== 'pending_approval') throw noApproval(id);
  const trajectory = await callerTrajectory(reaching, row.trajectory_id).catch((error: unknown) => {
    // The name of the trajectory is not for this caller.
    throw isAssizeError(error, 'not_found') ? noApproval(id) : error;
  });
  return { trajectory, row };
}

function noApproval(id: string): ServerError {
  return new ServerError(
    'not_found',
    `There is no pending proposal ${id}. List them with GET /v1/approvals.`,
    {
      evidence: { id },
    },
  );
}

interface Pending {
  readonly trajectoryId: string;
  readonly id: string;
  readonly payload: PendingPayload;
}

/** Whether a counselor may decide about a proposal by the state of its trajectory. */
async function mayDecide(
  caller: Caller,
  service: ServerService,
  { trajectoryId, id }: Pick<Pending, 'trajectoryId' | 'id'>,
): Promise<boolean> {
  if (!caller.kinds.includes('counselor')) return false;
  const among = await decidersAmong(service, trajectoryId, id, [caller.name]);
  return among?.length === 1;
}

/**
 * The document of a pending proposal. Undefined for a caller that may not see it, and for a
 * proposal that was never recorded.
 */
async function shownTo(
  caller: Caller,
  service: ServerService,
  { trajectoryId, id, payload }: Pending,
): Promise<z.input<typeof approvalForm> | undefined> {
  const trajectory = await readableIn(service.assize, trajectoryId);
  const names = [...service.config.principals.values()]
    .filter(({ kinds }) => kinds.includes('counselor'))
    .map(({ name }) => name);
  const asked = caller.kinds.includes('counselor') ? [...new Set([...names, caller.name])] : names;
  const among = isExpired(payload, service.clock.now())
    ? []
    : await decidersAmong(service, trajectoryId, id, asked);
  if (among === undefined) return undefined;
  const { writ_id } = payload.proposal;
  const requester = requesterOf(trajectory, writ_id);
  const grantors = trajectory === undefined ? [] : await grantorsOf(service, trajectory, writ_id);
  const makers = tokenMakersIn(payload.proposal.observations);
  const ruledOut = [
    requester,
    ...grantors,
    ...makers,
    ...(payload.approved_by ?? []).flatMap(principalsOf),
  ];
  const deciders = among.filter(
    (name) =>
      !grantors.some((grantor) => isSamePrincipal(grantor, name)) &&
      (name !== caller.name || sameAsOneOf(caller, ruledOut) === undefined),
  );
  if (!isOfKind(caller, READERS) && requester !== caller.name) return undefined;
  const { store } = service;
  const view = await pendingView(
    store,
    await pendingParts(store, new ValueReader(store), { id, payload }),
    await service.actions.of(trajectoryId),
  );
  // A call is settled by `effects.resolve`, and not by an approval.
  const mayDecide =
    !isEffectPending(payload) &&
    caller.kinds.includes('counselor') &&
    deciders.includes(caller.name);
  const undo = undoOf(view, trajectory);
  const stop = await stopAmong(service, [requester, ...grantors]);
  const { shown: _, ...document } = view;
  return {
    ...{ ...document, requester, deciders, may_decide: mayDecide },
    card: cardOf(view, { requester, undo, mayDecide, stop }),
  } as unknown as z.input<typeof approvalForm>;
}

/**
 * With what is read for one proposal only, by a reader of all memories: who else waits, and what
 * its memory contradicts.
 */
async function withContext(
  { assize }: ServerService,
  trajectory: Trajectory,
  approval: z.input<typeof approvalForm>,
): Promise<z.input<typeof approvalForm>> {
  const { action, observations, card } = approval;
  const given = [
    ...observations.flatMap(({ name, value }) =>
      value === undefined || recallOf({ name, value }) !== undefined
        ? []
        : [{ name, value: value as Json }],
    ),
    ...(action.args === undefined ? [] : [{ name: 'arguments', value: action.args as Json }]),
  ];
  const facts = await recalledIn(assize, trajectory.id, observations);
  const waiting = trajectory.approvals.pending().filter(({ id }) => id !== approval.id).length;
  const contradictions = [...contradictionsIn(given, facts)];
  return { ...approval, card: { ...card, waiting, contradictions } };
}

/**
 * Those of `principals` that may decide; none for a proposal that was decided meanwhile, or in a
 * ledger that accepts no more entries. Undefined
 * if the proposal was in memory only: an entry of another server overtook it, so it has another id.
 */
async function decidersAmong(
  { assize }: Pick<ServerService, 'assize'>,
  trajectoryId: string,
  id: string,
  principals: readonly string[],
): Promise<readonly string[] | undefined> {
  try {
    return await decidersIn(assize)(trajectoryId, id, principals);
  } catch (error) {
    if (isAssizeError(error, 'not_found')) return undefined;
    if (['not_pending', 'erased', 'invalid_ledger'].some((code) => isAssizeError(error, code)))
      return [];
    throw error;
  }
}

export const approvals: readonly Operation<ServerService>[] = [
  list,
  decideMany,
  get,
  judge,
  approve,
  reject,
];
