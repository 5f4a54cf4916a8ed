import { deepFreeze, isInstance, type Json } from '#base';
import { composedJson, plainText } from '#canon';
import type { ActionCall, ProposedCall } from '../domain/call.ts';
import type { Domain } from '../domain/domain.ts';
import { refusePromise } from '../domain/host-code.ts';
import { messageOf } from '../errors.ts';
import { type Container, view } from '../state/view.ts';
import { judges } from './check-rule.ts';
import type { Compiled, Refusal } from './compiled.ts';
import type { InputCall, Inputs } from './inputs.ts';

/** Maximum number of calls of one action. */
export const ACTION_CALLS_MAX = 256;

/** The calls of a proposal, in the order in which rules judge them. */
export interface ProposalCalls {
  /** All changing calls: those of the transaction body, and those that the action declares. */
  readonly all: readonly ProposedCall[];
  /** The calls that the action declares for this state. */
  readonly declared: readonly ProposedCall[];
}

const NONE: readonly InputCall[] = Object.freeze([]);
export const NO_CALLS: ProposalCalls = Object.freeze({ all: NONE, declared: NONE });

/** A proposal whose planned calls do not fit the state of the ruling. Plan the calls again. */
export interface OutdatedCalls extends Omit<Refusal, 'reason'> {
  readonly reason: 'conflict';
  readonly outdated: true;
}

/**
 * The calls of a proposal on its candidate state. Refuses a call that neither the action declares
 * nor a rule judges, unless the domain allows unjudged calls.
 */
export function callsOf(
  domain: Domain,
  compiled: Compiled,
  state: Container,
  inputs: Inputs,
): ProposalCalls | Refusal | OutdatedCalls {
  const { calls: given } = inputs;
  if (compiled.action.calls === undefined && (given === undefined || given.length === 0))
    return NO_CALLS;
  const declared = declaredCalls(domain, compiled, state, inputs);
  if ('reason' in declared) return declared;
  if (given === undefined) return { all: declared, declared };
  const rest = new Multiset(given);
  const missing = declared.find((one) => !rest.remove(one));
  const left = rest.left();
  if (missing !== undefined || left.some(({ isDeclared }) => isDeclared === true))
    return outdated(compiled, missing ?? left[0]!);
  const unjudged =
    domain.unjudgedCalls === 'allow' ? undefined : left.find(({ tool }) => !isRuled(domain, tool));
  if (unjudged !== undefined) return unjudgedCall(compiled, unjudged);
  return { all: given, declared };
}

/** The calls that an action declares for a candidate state. */
export function declaredCalls(
  domain: Domain,
  { name, action, args, role, binding }: Compiled,
  state: Container,
  { at, observations }: Inputs,
): readonly ProposedCall[] | Refusal {
  if (action.calls === undefined) return NO_CALLS.declared;
  try {
    const seen = view(state, binding.scope);
    const said: unknown = action.calls(seen, args, {
      role: role.params,
      at,
      observations: deepFreeze(observations),
    });
    refusePromise(said, 'calls');
    return Object.freeze(listed(said).map((one) => proposed(one, domain)));
  } catch (error) {
    if (isInstance(error, BadInput))
      return { reason: 'type_mismatch', detail: `calls of ${name}: ${error.message}` };
    return { reason: 'precondition_failed', detail: `calls of ${name}: ${messageOf(error)}` };
  }
}

/** An input that does not fit the schema of its tool. */
class BadInput extends Error {}

function listed(said: unknown): readonly ActionCall[] {
  if (!Array.isArray(said)) throw new Error('the function returned no list of calls');
  if (said.length > ACTION_CALLS_MAX)
    throw new Error(
      `the function returned ${said.length} calls, and ${ACTION_CALLS_MAX} are allowed`,
    );
  return said;
}

function proposed({ tool, input }: ActionCall, { texts }: Domain): ProposedCall {
  if (typeof tool?.parse !== 'function')
    throw new Error('a call names no tool; write call(tool, input)');
  if (tool.class === undefined)
    throw new Error(`${tool.name} only reads, so no action can declare a call of it`);
  let parsed: Json;
  try {
    parsed = callInput(tool.parse(input), texts);
  } catch (error) {
    throw new BadInput(messageOf(error));
  }
  return Object.freeze({ tool: tool.name, input: deepFreeze(parsed) });
}

/**
 * The input of a changing call as rules judge it, entries record it and the tool receives it: with
 * its texts in composed form, unless the domain takes them exactly.
 *
 * @throws CanonError `bad_input`
 */
export function callInput(input: Json, texts: Domain['texts']): Json {
  return texts === 'composed' ? composedJson(input) : input;
}

/** Whether a rule judges the calls of a tool. */
function isRuled({ rules }: Domain, tool: string): boolean {
  return rules.some((rule) => judges(rule, tool));
}

function outdated({ name }: Compiled, { tool }: ProposedCall): OutdatedCalls {
  return {
    reason: 'conflict',
    detail: `the calls of ${name} have changed since they were planned (${tool})`,
    outdated: true,
  };
}

function unjudgedCall({ name }: Compiled, { tool }: ProposedCall): Refusal {
  return {
    reason: 'unjudged_call',
    detail: `${name} does not declare this call of ${tool}, and no eachCall rule judges it`,
  };
}

/** The given calls, from which equal ones are taken away. */
class Multiset {
  readonly #byText: Map<string, InputCall[]> = new Map();

  constructor(calls: readonly InputCall[]) {
    for (const call of calls) {
      const text = textOf(call);
      const equal = this.#byText.get(text);
      if (equal === undefined) this.#byText.set(text, [call]);
      else equal.push(call);
    }
  }

  /** False if no equal call is left. */
  remove(call: ProposedCall): boolean {
    return this.#byText.get(textOf(call))?.pop() !== undefined;
  }

  left(): readonly InputCall[] {
    return [...this.#byText.values()].flat();
  }
}

function textOf({ tool, input }: ProposedCall): string {
  return plainText({ input, tool });
}
