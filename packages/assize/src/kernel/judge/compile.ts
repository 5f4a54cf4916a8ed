import { segment } from '#authority';
import { deepFreeze, defineOwn, type Json } from '#base';
import {
  copyJson,
  issueText,
  type Misfit,
  misfitsOf,
  parseBySchema,
  type SchemaIssues,
} from '#canon';
import { NO_PLACES } from '../domain/bindings.ts';
import type { ProposedCall } from '../domain/call.ts';
import type { ActionSpec, Binding, Domain } from '../domain/domain.ts';
import { refusePromise } from '../domain/host-code.ts';
import { BELIEVE_ACTION } from '../domain/memory-shape.ts';
import type { MemorySpec, MemoryStatement } from '../domain/memory-spec.ts';
import { hasErased } from '../domain/sensitive.ts';
import { messageOf } from '../errors.ts';
import {
  believeAction,
  declaredStatements,
  issueCode,
  memoryScope,
  statementsOf,
} from './beliefs.ts';
import type { Authority, Compiled, Cost, Intent, PolicyRuling, Refusal } from './compiled.ts';
import { ERASE_ACTION, eraseAction } from './erase.ts';

export interface CompileOptions {
  /** The arguments come from an entry and were parsed before. */
  readonly parsed?: boolean;
  /** The changing calls of a transaction body, for the policy. */
  readonly calls?: readonly ProposedCall[];
}

/**
 * The first five of the six typed rejections, in order. The sixth comes from `apply`
 * (`candidate.ts`).
 */
export function compile(
  domain: Domain,
  intent: Intent,
  authority: Authority,
  options: CompileOptions = {},
): Compiled | Refusal {
  // Unparsed arguments come from an agent, and agents cannot use this built-in action.
  if (options.parsed === true && intent.action === ERASE_ACTION) {
    const resolved = {
      action: eraseAction,
      args: deepFreeze(intent.args),
      binding: domain.erasing,
    };
    return authorised(intent, resolved, authority, options);
  }
  if (intent.action === BELIEVE_ACTION && domain.memory !== undefined) {
    const { memory } = domain;
    const said =
      options.parsed === true ? { args: deepFreeze(intent.args) } : believeArgs(intent.args);
    if ('fault' in said)
      return { reason: 'type_mismatch', detail: coded(said.code, `args ${said.fault}`) };
    return authorised(
      intent,
      { action: believeAction, binding: NO_PLACES, memory, ...said },
      authority,
      options,
    );
  }
  const action = (domain.actions as Record<string, ActionSpec | undefined>)[intent.action];
  if (action === undefined) {
    const known = Object.keys(domain.actions).join(', ');
    return {
      reason: 'unknown_tool',
      detail: `${domain.name} has no action ${JSON.stringify(intent.action)}; it has ${known}`,
    };
  }
  const roleFault = faultOfRole(domain, intent.role);
  if (roleFault !== undefined) return { reason: 'type_mismatch', detail: roleFault };
  // Recorded arguments were parsed when they were recorded. A second parse might change them.
  const parsed =
    options.parsed === true ? { args: deepFreeze(intent.args) } : parsedArgs(action, intent.args);
  if ('fault' in parsed) return { reason: 'type_mismatch', detail: `args ${parsed.fault}` };
  const { args } = parsed;
  const isHidden = domain.sensitive !== undefined || domain.sensitiveArgs.has(intent.action);
  if (isHidden && options.parsed !== true && hasErased(args))
    return {
      reason: 'type_mismatch',
      detail: 'args have a value that is marked as erased; only an erasure writes that mark',
    };

  if (!domain.roles[intent.role.name]?.processes.includes(action.process)) {
    return {
      reason: 'invalid_authority',
      detail: `the role ${intent.role.name} does not perform ${action.process}, to which ${intent.action} belongs`,
    };
  }
  const binding = domain.bind(action.process, intent.role.params);
  const roleScopes = [roleScope(domain, intent.role)];
  return authorised(
    intent,
    { action, args, binding, roleScopes, memory: domain.memory },
    authority,
    options,
  );
}

/** An intent whose action, arguments and places are known. The arguments are frozen. */
export interface Resolved {
  readonly action: ActionSpec;
  readonly args: Json;
  readonly binding: Binding;
  readonly roleScopes?: readonly string[];
  readonly memory?: MemorySpec | undefined;
  /** The statements, if they were read from the arguments. */
  readonly sayings?: readonly MemoryStatement[];
}

/** The rejections that come from the writ, the policy and the budget. */
export function authorised(
  intent: Intent,
  { action, args, binding, roleScopes = [], memory, sayings }: Resolved,
  authority: Authority,
  { calls = [] }: CompileOptions = {},
): Compiled | Refusal {
  const role = deepFreeze(intent.role.params);
  let scopes = roleScopes;
  let cost: Cost = NO_COST;
  const said =
    sayings === undefined
      ? statementsOf(memory, action, args, { role })
      : declaredStatements(memory, sayings);
  if ('fault' in said)
    return {
      reason: 'precondition_failed',
      detail: coded(said.code, `${intent.action}: ${said.fault}`),
    };
  const { statements } = said;
  try {
    if (action.scopes !== undefined)
      scopes = [...roleScopes, ...scopesOf(action.scopes(args, { role }) ?? [])];
    if (action.cost !== undefined) cost = costOf(action.cost(args, { role }) ?? {});
  } catch (error) {
    return { reason: 'precondition_failed', detail: `${intent.action}: ${messageOf(error)}` };
  }
  const admitted = authority.admits({ action: intent.action, scopes });
  if (!admitted.ok) return { reason: 'invalid_authority', detail: admitted.detail };
  const remembered = statements.map(memoryScope);
  // Checked separately, because a subject's name must not be in a detail: details are never erased.
  if (remembered.length > 0 && !authority.admits({ action: intent.action, scopes: remembered }).ok)
    return {
      reason: 'invalid_authority',
      detail: 'the writ does not cover all of its statements in memory',
    };
  scopes = [...scopes, ...remembered];

  const { needsApproval } = admitted;
  if (action.calls !== undefined) {
    const afforded = authority.affords(cost);
    if (!afforded.ok) return { reason: 'budget_exhausted', detail: afforded.detail };
    const undecided = { scopes, needsApproval };
    return {
      name: intent.action,
      action,
      role: intent.role,
      args,
      binding,
      cost,
      statements,
      undecided,
    };
  }
  const asked = { action: intent.action, scopes, role: intent.role, args };
  const decided = authority.decides(calls.length === 0 ? asked : { ...asked, calls });
  const policy = decided === undefined ? {} : { policy: decided.ruling };
  if (decided?.ruling.decision === 'deny')
    return { reason: 'policy_denied', detail: decided.detail, ...policy };

  const afforded = authority.affords(cost);
  if (!afforded.ok) return { reason: 'budget_exhausted', detail: afforded.detail, ...policy };

  return {
    name: intent.action,
    action,
    role: intent.role,
    args,
    binding,
    cost,
    statements,
    ...policy,
    ...approvalDemandOf(decided, admitted, authority),
  };
}

/**
 * The ruling of the policy on an action that declares calls, once its calls are known. The policy
 * decides last, because only the candidate state has the calls.
 */
export function decidedWithCalls(
  { undecided, ...compiled }: Compiled,
  calls: readonly ProposedCall[],
  authority: Authority,
): Compiled | Refusal {
  if (undecided === undefined) return compiled;
  const { scopes, needsApproval } = undecided;
  const { name: action, role, args } = compiled;
  const decided = authority.decides({
    action,
    scopes,
    role,
    args,
    ...(calls.length > 0 && { calls }),
  });
  const policy = decided === undefined ? {} : { policy: decided.ruling };
  if (decided?.ruling.decision === 'deny')
    return { reason: 'policy_denied', detail: decided.detail, ...policy };
  return { ...compiled, ...policy, ...approvalDemandOf(decided, { needsApproval }, authority) };
}

export function approvalDemandOf(
  decided: { ruling: PolicyRuling; detail: string } | undefined,
  admitted: { needsApproval: boolean },
  authority: Authority,
): Pick<Compiled, 'approvalDemand'> {
  const held = authority.approvalDemand?.();
  // Independent of the policy and the writ.
  if (held?.reason === 'irreversible') return { approvalDemand: held };
  if (decided?.ruling.decision === 'needs_approval') {
    return { approvalDemand: { reason: 'policy_needs_approval', detail: decided.detail } };
  }
  if (admitted.needsApproval)
    return {
      approvalDemand: {
        reason: 'writ_requires_approval',
        detail: 'the writ requires an approval for this action',
      },
    };
  return held === undefined ? {} : { approvalDemand: held };
}

/** Text without these characters is in every normal form. */
const BEYOND_ASCII = /[^ -~]/;

function faultOfRole(domain: Domain, role: Intent['role']): string | undefined {
  const declared = Object.hasOwn(domain.roles, role.name) ? domain.roles[role.name] : undefined;
  if (declared === undefined) {
    return `${domain.name} has no role ${JSON.stringify(role.name)}; it has ${Object.keys(domain.roles).join(', ')}`;
  }
  const wanted = declared.params ?? [];
  for (const param of wanted) {
    const value = Object.hasOwn(role.params, param) ? role.params[param] : undefined;
    if (typeof value !== 'string' || value === '')
      return `the role ${role.name} needs the parameter ${param}, a non-empty string`;
    // Writs compare names in this form. Two spellings of one name would be two places in the state.
    if (BEYOND_ASCII.test(value) && value !== value.normalize('NFC'))
      return `the parameter ${param} of the role ${role.name} must be in Unicode's composed form (NFC)`;
  }
  const extra = Object.keys(role.params).find((param) => !wanted.includes(param));
  return extra === undefined ? undefined : `the role ${role.name} has no parameter ${extra}`;
}

/**
 * The resource that a writ must cover for a role: `role:spender:alice`, parameters in the order of
 * declaration.
 */
export function roleScope(domain: Domain, role: Intent['role']): string {
  const segments = ['role', role.name];
  for (const param of domain.roles[role.name]?.params ?? [])
    segments.push(segment(role.params[param] as string));
  return segments.join(':');
}

/** The arguments of `assize.believe`. `code` is the name of the fault in the errors of a memory. */
function believeArgs(
  given: Json,
): Pick<Resolved, 'args' | 'sayings'> | { fault: string; code?: string } {
  const said = parsedArgs(believeAction, given);
  if (!('fault' in said))
    return { args: said.args, sayings: (said.args as unknown as Required<Resolved>).sayings };
  return { fault: said.fault, ...(said.misfits && issueCode(said.misfits)) };
}

/** The code comes first, so that a refused model or a human reader can look it up. */
function coded(code: string | undefined, fault: string): string {
  return code === undefined ? fault : `${code}: ${fault}`;
}

/** The misfits of an intent's arguments, for the agent. None if the action is unknown. */
export function argumentMisfits(
  domain: Domain,
  { action, args }: Pick<Intent, 'action' | 'args'>,
): readonly Misfit[] {
  const own = (domain.actions as Record<string, ActionSpec | undefined>)[action];
  const spec = action === BELIEVE_ACTION && domain.memory !== undefined ? believeAction : own;
  const parsed = spec === undefined ? { args } : parsedArgs(spec, args);
  return 'misfits' in parsed && parsed.misfits !== undefined ? misfitsOf(parsed.misfits) : [];
}

/** After parsing. Frozen, because this value is recorded. */
function parsedArgs(
  action: ActionSpec,
  given: Json,
): { args: Json } | { fault: string; misfits?: SchemaIssues } {
  try {
    const parsed = parseBySchema(action.args, given);
    if (!parsed.success) return { fault: issueText(parsed.error), misfits: parsed.error };
    // Copied even if the schema only checks: zod ignores a member named __proto__, and the checked
    // value must be the recorded one.
    return { args: deepFreeze(copyJson(parsed.data)) };
  } catch (error) {
    return { fault: `cannot be parsed: ${messageOf(error)}` };
  }
}

function scopesOf(scopes: unknown): readonly string[] {
  refusePromise(scopes, 'scopes');
  if (Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string')) return scopes;
  throw new Error('its scopes are not a list of strings');
}

const NO_COST: Cost = Object.freeze({});

function costOf(cost: unknown): Cost {
  refusePromise(cost, 'cost');
  if (
    typeof cost !== 'object' ||
    cost === null ||
    Object.getPrototypeOf(cost) !== Object.prototype
  ) {
    throw new Error('its cost is not an object of amounts');
  }
  const amounts: Record<string, number> = {};
  // Two calls, because `Reflect.ownKeys` takes twice the time of both.
  for (const unit of Object.getOwnPropertyNames(cost)) {
    const amount = (cost as Readonly<Record<string, unknown>>)[unit];
    if (!isAmount(amount)) throw new Error(`its cost in ${unit} is not a whole amount`);
    defineOwn(amounts, unit, amount);
  }
  if (Object.getOwnPropertySymbols(cost).length > 0)
    throw new Error('its cost is not an object of amounts');
  return amounts;
}

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
