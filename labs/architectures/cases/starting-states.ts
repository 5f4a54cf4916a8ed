import { deepFreeze, isAssizeError, type Json } from 'assize/internal/base';
import { type Domain, givenState } from 'assize/internal/kernel';
import { ArchitectureError } from '../errors.ts';
import type { Evaluator } from '../evaluator.ts';

/**
 * The given states, or the initial state of the domain. Every rule passes on each.
 *
 * @throws ArchitectureError `bad_start`
 */
export function startingStates(evaluator: Evaluator, states?: readonly unknown[]): readonly Json[] {
  const given: readonly unknown[] = states ?? [undefined];
  return given.map((state, i) => {
    const name = states === undefined ? 'initial' : String(i);
    const start = startOf(evaluator.domain, state, name);
    const [failing] = evaluator.failing(start);
    if (failing === undefined) return start;
    throw badStart(name, `breaks ${failing.rule}: ${failing.detail.replace(/\.$/, '')}`);
  });
}

function startOf(domain: Domain, given: unknown, name: string): Json {
  try {
    return deepFreeze(givenState(domain, given) as Json);
  } catch (cause) {
    if (!isAssizeError(cause)) throw cause;
    throw badStart(name, `cannot begin: ${cause.message.replace(/\.$/, '')}`, cause);
  }
}

function badStart(state: string, problem: string, cause?: unknown): ArchitectureError {
  const which = state === 'initial' ? "the domain's initial state" : `state ${Number(state) + 1}`;
  const message = `The comparison has no starting state: ${which} ${problem}. Pass a state on which every rule passes.`;
  const because = cause === undefined ? {} : { cause };
  return new ArchitectureError('bad_start', message, { evidence: { state }, ...because });
}
