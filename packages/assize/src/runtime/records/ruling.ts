import { type ArgumentSchema, arg, checkArgument, type Json } from '#base';
import { type CanonLimits, copyJson, type Misfit, WORLD_LIMITS } from '#canon';
import type { EffectPhase } from '#effects';
import {
  argumentMisfits,
  BELIEVE_ACTION,
  type Domain,
  faultOfName,
  type Intent,
  KernelError,
  type PatchOperation,
} from '#kernel';
import {
  approvalsOf,
  type CounselorRecord,
  type EntryRow,
  type Hash,
  type Instant,
  isBlobRef,
  type Payload,
  type PendingPayload,
  type RejectionReason,
  type RoleRef,
  readRow,
  traceparentIn,
} from '#ledger';
import type { Told } from '#traces';
import { RuntimeError } from '../errors.ts';
import type { GivenAnswer } from './questions.ts';

/** A part of a ruling that its entry alone does not have. */
interface OfRequest {
  /**
   * For a pending proposal, and for the end of one: the id under which it was first pending. Each
   * approval of several gives a pending proposal a new id, and this one stays.
   */
  readonly request?: Hash;
}

/** The outcome of a proposal or of a resolution. The entry is durable when this is returned. */
export type Ruling =
  | (OfRequest & {
      readonly ruling: 'committed';
      readonly entry: EntryRow;
      /**
       * True for statements of memory that changed no fact, such as a claim that its source stated
       * before. A claim that lost a contradiction stays lost.
       */
      readonly unchanged?: true;
      /**
       * For an action that declares calls, and for an approval of calls: the state of the effects
       * when the method returns. Absent for a repetition of a proposal that was imported with its
       * ruling: the store that it comes from has the effects.
       */
      readonly effects?: EffectsStatus;
      /** With `effects`: each call with its outcome, in call order. */
      readonly calls?: readonly EffectOutcome[];
      /** The ruling on the `onFailure` action, if a call failed permanently. */
      readonly failure?: Ruling;
    })
  | (OfRequest & {
      readonly ruling: 'rejected';
      readonly entry: EntryRow;
      readonly reason: RejectionReason;
      readonly detail: string;
      readonly invariantId?: string;
      /** With `type_mismatch`: the misfits of the arguments, as the schema reports them. */
      readonly findings?: readonly Misfit[];
    })
  | (OfRequest & {
      readonly ruling: 'escalated';
      readonly entry: EntryRow;
      /** The id for the approval or rejection: the entry's id. */
      readonly pending: Hash;
      readonly channel: string;
      readonly reason: PendingPayload['reason'];
      readonly detail: string;
      readonly invariantId?: string;
      /**
       * Set if several counselors must approve: the required number, and the counselors that have
       * approved.
       */
      readonly approvals?: number;
      readonly approvedBy?: readonly CounselorRecord[];
    })
  /**
   * An open approval blocks this proposal; nothing was recorded. Propose again when it is resolved.
   */
  | {
      readonly ruling: 'frozen';
      readonly by: Hash;
      readonly detail: string;
      readonly waiting: WaitingProposal;
    };

/** The pending proposal that a `frozen` one must wait for. Shows no arguments and no state. */
export interface WaitingProposal {
  readonly action: string;
  /** The kind of counselor that decides, or `any`. */
  readonly channel: string;
  readonly since: Instant;
  /** The time at which the proposal expires. Absent if it never does. */
  readonly until?: Instant;
}

/** The end of an escalation: a counselor's commit or rejection, or the expiry. */
export type FinalRuling = Extract<Ruling, { readonly ruling: 'committed' | 'rejected' }>;

export interface Resolution {
  /**
   * The counselor; the domain's counselors decide whether the principal may resolve. A name of 1 to
   * 512 visible characters, with single spaces inside.
   */
  readonly principal: string;
  /** The method of authentication, for the record. */
  readonly method: string;
  /** The other principals that made the token of the counselor. All count as one person. */
  readonly tokenBy?: readonly string[];
  /** The digest shown to the counselor; another digest is refused. */
  readonly digest?: Hash;
}

export interface ApprovalInput extends Resolution {
  /**
   * Approves also if the result breaks an invariant. If several counselors must approve, all must
   * set this.
   */
  readonly override?: boolean;
  readonly reason?: string;
  /**
   * For statements that contradict facts: the winner of each question. The counselor must be of the
   * kind that the predicate names. If several counselors must approve, only the last one answers.
   */
  readonly answers?: readonly GivenAnswer[];
  /**
   * The counselor's own change instead of the proposal's; refused if several counselors must
   * approve.
   */
  readonly replacement?: readonly PatchOperation[];
  /**
   * Amends the proposal: the same action with these arguments. Everything is judged again, and the
   * calls of the first proposal are never made. Refused with `answers` or `replacement`.
   */
  readonly args?: unknown;
  /** Amends the proposal: the same action under this role. */
  readonly role?: string | RoleRef;
}

/** Whether an approval answers questions. */
export function isAnswering({ answers = [] }: Pick<ApprovalInput, 'answers'>): boolean {
  return answers.length > 0;
}

/** Whether an approval is of other arguments or another role than the proposal's. */
export function isAmending({ args, role }: Pick<ApprovalInput, 'args' | 'role'>): boolean {
  return args !== undefined || role !== undefined;
}

export interface RejectionInput extends Resolution {
  readonly reason: string;
}

const RESOLUTION = {
  principal: arg.any,
  method: arg.any,
  tokenBy: arg.optional(arg.list(arg.text)),
  digest: arg.any,
  reason: arg.any,
};
export const REJECTION: ArgumentSchema = arg.options<RejectionInput>(RESOLUTION);
export const APPROVAL: ArgumentSchema = arg.options<ApprovalInput>({
  ...RESOLUTION,
  override: arg.any,
  answers: arg.any,
  replacement: arg.any,
  args: arg.any,
  role: arg.any,
});

/**
 * A checked copy of the input that an entry can store. Later changes by the caller have no effect.
 *
 * @throws RuntimeError `bad_intent`; KernelError `invalid_state`; ArgumentError `bad_argument`
 */
export function checkedResolution<Input extends Resolution>(
  given: Input,
  of: ArgumentSchema,
  texts: readonly string[] = ['principal', 'method'],
): Input {
  const input = { ...given };
  const said = input as unknown as { readonly [name: string]: unknown };
  const wanted = said['reason'] === undefined ? texts : [...texts, 'reason'];
  const wrong = wanted.find((name) => typeof said[name] !== 'string');
  if (wrong !== undefined)
    throw new RuntimeError(
      'bad_intent',
      `The ${wrong} of a resolution is missing or not valid. Pass a string.`,
    );
  if ('override' in said && typeof said['override'] !== 'boolean')
    throw new RuntimeError(
      'bad_intent',
      'The override of a resolution is not valid. Pass true or false.',
    );
  if ('digest' in said && said['digest'] === undefined)
    throw new RuntimeError(
      'bad_intent',
      'The digest of a resolution is undefined, so it would bind nothing. Pass the digest that was shown, or leave it out.',
    );
  checkAmended(said);
  const { answers, replacement } = said;
  const copies = answers === undefined ? {} : { answers: answersFrom(answers) };
  checkArgument(of, input, 'input');
  const fault = faultOfName(input.principal);
  if (fault === undefined)
    return {
      ...input,
      ...copies,
      ...(replacement !== undefined && { replacement: ownReplacement(replacement) }),
      ...ownAmendment(said),
    };
  throw new RuntimeError(
    'bad_intent',
    `The principal ${JSON.stringify(input.principal)} is not valid: ${fault}.`,
    {
      evidence: { principal: input.principal },
    },
  );
}

/** An amendment is of the whole proposal, so it stands alone. @throws RuntimeError `bad_intent` */
function checkAmended(said: { readonly [name: string]: unknown }): void {
  for (const name of AMENDED) {
    if (!(name in said)) continue;
    if (said[name] === undefined)
      throw new RuntimeError(
        'bad_intent',
        `The ${name} of a resolution is undefined, so nothing would be amended. Pass a value, or leave it out.`,
      );
    const other = ['answers', 'replacement'].find((each) => said[each] !== undefined);
    if (other !== undefined)
      throw new RuntimeError(
        'bad_intent',
        `The resolution has ${name} and ${other}. Pass ${name} to amend the proposal, or ${other} to approve it.`,
      );
  }
}

const AMENDED = ['args', 'role'] as const;

/** Copies of the amended parts. @throws CanonError for a value that cannot be canonicalised */
function ownAmendment(said: { readonly [name: string]: unknown }): object {
  const given = AMENDED.filter((name) => said[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, copyJson(said[name], { foreign: true })]));
}

/** Copies; each member is read once. */
function answersFrom(given: unknown): GivenAnswer[] {
  const answers = Array.isArray(given) ? Array.from(given as unknown[], answerFrom) : [undefined];
  if (answers.every((answer) => answer !== undefined)) return answers;
  throw new RuntimeError(
    'bad_intent',
    'The answers are not valid. Pass a list; each answer has its request and the claim of the winner.',
  );
}

function answerFrom(given: unknown): GivenAnswer | undefined {
  const { request, winner } = (given ?? {}) as Partial<GivenAnswer>;
  return typeof request === 'string' && typeof winner === 'string'
    ? { request, winner }
    : undefined;
}

/**
 * A shared value counts each time: a copy shares nothing, and could need more memory than a process
 * has.
 */
const REPLACEMENT_LIMITS: Partial<CanonLimits> = Object.freeze({
  bytesMax: WORLD_LIMITS.bytesMax,
  nodesMax: 4_194_304,
  foreign: true,
});

/** The kernel reports a value that is not a list of operations when it applies it. */
function ownReplacement(given: unknown): unknown {
  try {
    return copyJson(given, REPLACEMENT_LIMITS);
  } catch (error) {
    throw new KernelError(
      'invalid_state',
      `The approved state is not JSON: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}

/** The ruling that an entry records. */
export function rulingOf(row: EntryRow): Ruling {
  return rulingFrom(row, readRow(row).payload);
}

/**
 * Same, for a payload that was already read. The row is frozen, because a listener receives it too.
 */
export function rulingFrom(row: EntryRow, payload: Payload): Ruling {
  const entry = Object.freeze(row);
  if (payload.kind === 'commit') {
    const isUnchanged =
      payload.action.name === BELIEVE_ACTION && payload.delta.beliefs.length === 0;
    return { ruling: 'committed', entry, ...(isUnchanged && { unchanged: true }) };
  }
  if (payload.kind === 'rejection') {
    const { reason, detail } = payload;
    return { ruling: 'rejected', entry, reason, detail, ...invariantOf(payload) };
  }
  if (payload.kind === 'pending_approval') {
    const { channel, reason, detail } = payload;
    const asked = { pending: row.id, channel, reason, detail, ...invariantOf(payload) };
    const first = payload.resolves === undefined && { request: row.id };
    return { ruling: 'escalated', entry, ...asked, ...first, ...severalOf(payload) };
  }
  throw new RuntimeError(
    'wrong_state',
    `A ${payload.kind} entry has no ruling. Pass a commit, a rejection or a pending approval.`,
  );
}

/** The ruling with the misfits of the arguments. The entry has them as a text only. */
export function withFindings(
  ruling: Ruling,
  domain: Domain,
  intent: Pick<Intent, 'action' | 'args'>,
): Ruling {
  if (ruling.ruling !== 'rejected' || ruling.reason !== 'type_mismatch') return ruling;
  const findings = argumentMisfits(domain, intent);
  return findings.length === 0 ? ruling : { ...ruling, findings };
}

function severalOf(payload: PendingPayload): {
  approvals?: number;
  approvedBy?: readonly CounselorRecord[];
} {
  const { needed, given } = approvalsOf(payload);
  return needed > 1 ? { approvals: needed, approvedBy: structuredClone(given) } : {};
}

function invariantOf({ invariant_id }: { readonly invariant_id?: string }): {
  invariantId?: string;
} {
  return invariant_id === undefined ? {} : { invariantId: invariant_id };
}

/** The outcome of an effect that a commit names. */
export interface EffectOutcome {
  /** The effect's id in the commit. */
  readonly id: Hash;
  readonly tool: string;
  /**
   * `applied`, `undone` and `accepted` are final. `in_doubt` and `unresolved` need a human
   * decision.
   */
  readonly phase: EffectPhase;
  /**
   * The tool's answer, or `{"$erased": hash}` if the answer was erased. Undefined if the tool gave
   * no answer, or if only an operator stated that the effect was applied.
   */
  readonly answer?: Json;
  /** Set if the answer was too long to store. */
  readonly isTooLong?: true;
  /** Set if the tool was executed and its answer is not JSON. */
  readonly isUnreadable?: true;
}

/**
 * The state of all effects of a commit. `settled`: all effects are done, or compensated without a
 * commit, and their outcomes are durable. `failed`: an effect failed permanently after the commit,
 * and all effects are compensated. `needs_human`: an effect needs a human decision (`effects
 * list`). `waiting`: the effects wait for another decision or for a process with their tools, are
 * in progress, or have outcomes that could not be written yet.
 */
export type EffectsStatus = 'settled' | 'failed' | 'needs_human' | 'waiting';

/** A recorded ruling with the proposal that it rules on. */
export interface RuledProposal {
  readonly ruling: Ruling;
  readonly action: string;
  /** The arguments. Undefined if their entry does not hold them in place. */
  readonly args?: Json;
}

/** Finds the misfits of arguments again. Undefined for a ruling without an entry. */
export function ruledProposal(ruling: Ruling, domain: Domain): RuledProposal | undefined {
  if (ruling.ruling === 'frozen') return undefined;
  const { payload } = readRow(ruling.entry);
  if (payload.kind === 'rejection')
    return proposalIn(ruling, payload.intent.action, payload.intent.args, domain);
  if (payload.kind === 'commit')
    return proposalIn(ruling, payload.action.name, payload.action.args, domain);
  if (payload.kind !== 'pending_approval') return undefined;
  const { name, args } = payload.proposal.action;
  return proposalIn(ruling, name, args, domain);
}

function proposalIn(
  ruling: Ruling,
  action: string,
  stored: unknown,
  domain: Domain,
): RuledProposal {
  if (isBlobRef(stored)) return { ruling, action };
  const args = stored as Json;
  return { ruling: withFindings(ruling, domain, { action, args }), action, args };
}

/**
 * The ids and codes of a ruling, for a tracer. An earlier ruling links to the step that caused it.
 */
export function toldRuling(ruling: Ruling): Told {
  if (ruling.ruling === 'frozen') return { facts: { ruling: 'frozen', approval: ruling.by } };
  const { entry } = ruling;
  const links = [traceparentIn(readRow(entry).payload)];
  const facts = { ruling: ruling.ruling, entry: entry.id, seq: entry.seq };
  if (ruling.ruling === 'committed') return { facts, links };
  const { reason, invariantId: rule } = ruling;
  const asked = ruling.ruling === 'escalated' && {
    approval: ruling.pending,
    channel: ruling.channel,
  };
  return { facts: { ...facts, reason, rule, ...asked }, links };
}

/** A name that a caller gave. Undefined for anything else. */
export function toldName(given: unknown): string | undefined {
  return typeof given === 'string' ? given.slice(0, 512) : undefined;
}
