import { writId } from '#authority';
import { canonicalize } from '#canon';
import type { Hash, Instant } from '#ledger';
import { type Asked, type Decided, type Deed, tipOf, type Upgraded } from './deeds.ts';
import { brokenAfter, type Model, nameOf, operationsOf, rerun, type Waiting } from './model.ts';
import {
  type Action,
  approvalsFor,
  askingOf,
  callsOf,
  channelOf,
  costOf,
  difference,
  findingsOf,
  isCounselor,
  isHeld,
  judgesTool,
  marked,
  meets,
  migrated,
  placeholders,
  reservedBy,
  resultOf,
} from './naive.ts';
import { BUDGET } from './stage.ts';
import type { RuleName, Treasury } from './versions.ts';

/** The answer that the model expects, in the form in which an answer of the runtime is compared. */
export type Expected =
  | { readonly is: 'committed' }
  | { readonly is: 'rejected'; readonly reason: string; readonly rule?: string | undefined }
  | {
      readonly is: 'escalated';
      readonly rule: string | undefined;
      readonly channel: string;
      readonly approvals: number;
    }
  | { readonly is: 'frozen' }
  | { readonly is: 'repeated'; readonly id: Hash }
  | { readonly is: 'error'; readonly code: string };

/** The answers that the model allows. Most often it is one. */
export type Allowed = readonly Expected[];

const error = (code: string): Allowed => [{ is: 'error', code }];
const COMMITTED: Expected = { is: 'committed' };
const FROZEN: Expected = { is: 'frozen' };

/** The answers that the model allows for a deed at a time. */
export function allowed(model: Model, deed: Deed, at: Instant): Allowed {
  switch (deed.do) {
    case 'ask':
      return allowedForAsk(model, deed, at);
    case 'approve':
      return allowedForApproval(model, deed, at);
    case 'reject':
      return allowedForRejection(model, deed, at);
    case 'upgrade':
      return allowedForUpgrade(model, deed);
    case 'resume':
      return model.isHalted ? [COMMITTED] : error('already_done');
    case 'halt':
    case 'revoke':
      return [COMMITTED];
    case 'branch':
      return [];
  }
}

function isDue({ payload }: Waiting, at: Instant): boolean {
  return payload.expires !== undefined && at >= payload.expires;
}

/** The pending proposals that have not expired. */
export function openAt({ open }: Model, at: Instant): readonly Waiting[] {
  return open.filter((one) => !isDue(one, at));
}

function left({ spent }: Model, writ: Hash, agent: string): number {
  return agent.startsWith('manager') ? 0 : BUDGET.cents - (spent.get(writ) ?? 0);
}

// ── a proposal ──

function allowedForAsk(model: Model, asked: Asked, at: Instant): Allowed {
  if (asked.key !== undefined) {
    const before = model.keys.get(nameOf(asked));
    if (before !== undefined) {
      const isSame =
        before.ref === asked.ref && (before.writ ?? writId(asked.writ)) === writId(asked.writ);
      return isSame ? [{ is: 'repeated', id: before.id }] : error('idempotency_conflict');
    }
  }
  const isCalling = tipsOf(asked.action, asked.body).length > 0;
  // The body calls its tool before the proposal, and its process may not know a revocation yet.
  const refused = isCalling && model.revoked.has(writId(asked.writ)) ? error('not_authorised') : [];
  if (model.isHalted) return [...refused, ...error('halted')];
  return [...refused, ...allowedForProposal(model, asked, openAt(model, at))];
}

function allowedForProposal(model: Model, asked: Asked, open: readonly Waiting[]): Allowed {
  if (open.some(({ payload }) => payload.freezes === 'world')) return [FROZEN];
  const answer = ruled(model, asked, writId(asked.writ));
  if (open.length === 0) return [answer.is];
  // The model has no closures of footprints. The other properties show that they are enough.
  if (model.version.freeze !== 'reserve') return [answer.is, FROZEN];
  if (answer.is.is === 'rejected') return [answer.is];
  const { changes = [], operations = [] } = answer;
  const places = answer.is.is === 'committed' ? changes : reservedBy(model.version, operations);
  const isMet = open.some((one) => meets(places, frozenBy(model, one)));
  const isStopped = isMet || isHeld(model.version, model.state, operations, open.map(operationsOf));
  return [isStopped ? FROZEN : answer.is];
}

/**
 * The places that a pending proposal has frozen. Where an earlier version froze what its rules
 * read, too, `reserve` keeps only the changes.
 */
function frozenBy({ version }: Model, waiting: Waiting): 'world' | readonly string[] {
  const { freezes } = waiting.payload;
  if (version.freeze !== 'reserve' || freezes === 'world' || freezes.length === 0) return freezes;
  const reserved = reservedBy(version, operationsOf(waiting)).map(({ path }) =>
    path.replace(/\/-$/, ''),
  );
  const isReserved = (place: string): boolean =>
    reserved.some((one) => `${place}/`.startsWith(`${one}/`));
  return freezes.every(isReserved) ? freezes : reserved;
}

export function tipsOf(action: Action, body: Asked['body']) {
  if (body?.tip === undefined || action.name !== 'pay') return [];
  return [{ tool: 'bank.tip', input: tipOf(action, body.tip) }];
}

interface Ruled {
  readonly is: Expected;
  /** The changes of the state, and those with the marks of all approvals. */
  readonly changes?: ReturnType<typeof difference>;
  readonly operations?: ReturnType<typeof difference>;
}

/** The ruling on a proposal that nothing stops. */
function ruled(
  model: Model,
  { agent, action, body }: Pick<Asked, 'agent' | 'action' | 'body'>,
  writ: Hash,
): Ruled {
  const { version, state } = model;
  const refused = (reason: string, rule?: string): Ruled => ({
    is: { is: 'rejected', reason, rule },
  });
  if (model.revoked.has(writ)) return refused('invalid_authority');
  if (costOf(action) > left(model, writ, agent)) return refused('budget_exhausted');
  const candidate = resultOf(version, state, action);
  if (candidate === undefined) return refused('precondition_failed');
  const tips = tipsOf(action, body);
  if (tips.some(({ tool }) => !judgesTool(version, tool))) return refused('unjudged_call');
  const findings = findingsOf(version, candidate, [
    ...tips,
    ...callsOf(version, candidate, action),
  ]);
  const [finding] = findings;
  if (finding?.result === 'reject') return refused('invariant_rejected', finding.rule);
  const changes = difference(state, candidate);
  if (finding === undefined && agent !== 'bob')
    return { is: COMMITTED, changes, operations: changes };
  const approvals = approvalsFor(version, finding?.rule);
  const mark = difference(candidate, marked(candidate, finding, placeholders(approvals)));
  return {
    is: { is: 'escalated', rule: finding?.rule, channel: channelOf(findings), approvals },
    changes,
    operations: [...changes, ...mark],
  };
}

// ── a decision ──

function allowedForRejection(model: Model, { pending, principal }: Decided, at: Instant): Allowed {
  const waiting = model.open.find(({ id }) => id === pending);
  if (waiting === undefined) return error('not_pending');
  if (isDue(waiting, at)) return [{ is: 'rejected', reason: 'expired' }];
  if (!mayDecide(waiting, principal)) return error('unauthorised_counselor');
  return [{ is: 'rejected', reason: 'counselor_rejected' }];
}

function mayDecide(
  { payload, principal: requester }: Waiting,
  principal: string,
  channel = payload.channel,
): boolean {
  return principal !== requester && isCounselor(channel, principal);
}

function allowedForApproval(model: Model, decided: Decided, at: Instant): Allowed {
  const waiting = model.open.find(({ id }) => id === decided.pending);
  if (waiting === undefined) return error('not_pending');
  if (model.isHalted) return error('halted');
  if (isDue(waiting, at)) return [{ is: 'rejected', reason: 'expired' }];
  const { principal } = decided;
  if (!mayDecide(waiting, principal)) return error('unauthorised_counselor');
  if (waiting.payload.approved_by?.some((one) => one.principal === principal))
    return error('already_approved');
  return decided.amended === undefined
    ? allowedForExact(model, waiting, decided)
    : allowedForAmendment(model, waiting, decided, decided.amended);
}

function allowedForExact(
  model: Model,
  waiting: Waiting,
  { principal, override }: Decided,
): Allowed {
  const { version, state } = model;
  const { payload, calls, action } = waiting;
  const { writ_id } = payload.proposal;
  if (model.revoked.has(writ_id) || costOf(action) > left(model, writ_id, waiting.principal))
    return error('changed_since');
  const again = rerun(version, state, waiting);
  if (again === undefined)
    return version.freeze === 'reserve' && payload.freezes !== 'world'
      ? [{ is: 'rejected', reason: 'conflict' }]
      : error('changed_since');
  const { candidate, finding } = again;
  const approvals = payload.approvals ?? 1;
  const earlier = payload.approved_by ?? [];
  const given = [...earlier.map((one) => one.principal), principal];
  const names = placeholders(approvals);
  const withMarks = (marks: readonly string[]): Treasury => marked(candidate, finding, marks);
  const broken = new Set(brokenAfter(version, withMarks(given), calls, payload.channel));
  if (given.length < approvals) {
    // The rule waits for the other approvers.
    const late = brokenAfter(
      version,
      withMarks([...given, ...names.slice(given.length)]),
      calls,
      payload.channel,
    );
    if (!late.has('LARGE')) broken.delete('LARGE');
  }
  const stopped = overrideFault(model, broken, override, earlier);
  if (stopped !== undefined) return stopped;
  return [
    ...(isStopped(model, waiting, withMarks(given)) ? error('frozen') : []),
    ...(given.length < approvals
      ? ([
          { is: 'escalated', rule: payload.invariant_id, channel: payload.channel, approvals },
        ] as const)
      : [COMMITTED]),
  ].slice(0, 1);
}

/** The refusal of an approval of a state that breaks these rules. Undefined if it stands. */
function overrideFault(
  { version }: Model,
  broken: ReadonlySet<RuleName>,
  override: boolean,
  earlier: NonNullable<Waiting['payload']['approved_by']>,
): Allowed | undefined {
  if (
    version.final !== undefined &&
    broken.has(version.final) &&
    version.rules.includes(version.final)
  )
    return error('final_rule');
  if (broken.size === 0 && earlier.every((one) => one.override !== true)) return undefined;
  if (earlier.some((one) => one.override !== true) || !override) return error('override_needed');
  const isUnseen = earlier.some(({ overridden = [] }) =>
    [...broken].some((rule) => overridden.every(({ invariant_id }) => invariant_id !== rule)),
  );
  return isUnseen ? error('changed_since') : undefined;
}

/** Whether another pending proposal stops the approval. */
function isStopped(model: Model, waiting: Waiting, next: Treasury): boolean {
  const { version, state, open } = model;
  const others = open.filter((one) => one !== waiting);
  const changes = difference(state, next);
  if (others.some((one) => meets(changes, frozenBy(model, one)))) return true;
  if (version.freeze !== 'reserve') return false;
  return isHeld(version, state, changes, others.map(operationsOf));
}

function allowedForAmendment(
  model: Model,
  waiting: Waiting,
  { principal, override }: Decided,
  amended: Action,
): Allowed {
  const { version, state, open } = model;
  const { payload, calls, action } = waiting;
  const { writ_id } = payload.proposal;
  if ((payload.approvals ?? 1) > 1 || calls.some(({ tool }) => tool === 'bank.tip'))
    return error('invalid_amendment');
  const others = open.filter((one) => one !== waiting);
  if (others.some((one) => one.payload.freezes === 'world')) return error('frozen');
  const frozen = others.length > 0 && version.freeze !== 'reserve' ? error('frozen') : [];
  const refused = [...error('invalid_amendment'), ...frozen];
  if (model.revoked.has(writ_id) || costOf(amended) > left(model, writ_id, waiting.principal))
    return refused;
  if (canonicalize(amended) === canonicalize(action)) return refused;
  const candidate = resultOf(version, state, amended);
  if (candidate === undefined) return refused;
  const called = callsOf(version, candidate, amended);
  const findings = findingsOf(version, candidate, called);
  const [first] = findings;
  const finding = first?.result === 'escalate' ? first : undefined;
  if (findings.some(({ rule }) => approvalsFor(version, rule) > 1)) return refused;
  const channel = channelOf(askingOf(findings));
  if (!mayDecide(waiting, principal, channel))
    return [...error('unauthorised_counselor'), ...frozen];
  const next = marked(candidate, finding, [principal]);
  const broken = brokenAfter(version, next, called, `${payload.channel}+${channel}`);
  const fault = overrideFault(model, broken, override, []);
  if (fault !== undefined) return [...fault, ...frozen];
  return isStopped(model, waiting, next) ? error('frozen') : [COMMITTED, ...frozen];
}

// ── an upgrade ──

function allowedForUpgrade(model: Model, deed: Upgraded): Allowed {
  const { to, from, isElsewhere } = deed;
  if (model.isHalted) return error('halted');
  if (model.version === to) return error('already_done');
  const isOther = from !== undefined && from !== String(model.version.number);
  if (isOther && !isElsewhere) return error('already_done');
  // Another process may read the trajectory before or after another upgrade of the step.
  const raced = isOther ? error('already_done') : [];
  return [...raced, ...allowedForMigration(model, deed)];
}

function allowedForMigration(model: Model, { to, raise, principal }: Upgraded): Allowed {
  const broken = findingsOf(to, migrated(to, raise, model.state), []).map(({ rule }) => rule);
  const final = broken.find((rule) => rule === to.final);
  if (final !== undefined) return [{ is: 'rejected', reason: 'invariant_rejected', rule: final }];
  if (broken.length === 0) return [COMMITTED];
  if (principal === undefined)
    return [{ is: 'rejected', reason: 'invariant_rejected', rule: broken[0] }];
  return isCounselor('any', principal) ? [COMMITTED] : error('unauthorised_counselor');
}

/** The pending proposals that go on after an upgrade, of those that have not expired. */
export function carriedBy(before: Model, after: Model, at: Instant): readonly Hash[] {
  return openAt(before, at)
    .filter((waiting) => goesOn(after, waiting))
    .map(({ id }) => id);
}

function goesOn(after: Model, waiting: Waiting): boolean {
  const { payload, principal, action } = waiting;
  const { writ_id } = payload.proposal;
  if (after.revoked.has(writ_id) || costOf(action) > left(after, writ_id, principal)) return false;
  if (approvalsFor(after.version, payload.invariant_id) !== (payload.approvals ?? 1)) return false;
  const again = rerun(after.version, after.state, waiting);
  return again !== undefined && channelOf(again.findings) === payload.channel;
}
