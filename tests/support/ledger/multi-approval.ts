import { type ActionSpec, type DomainSpec, defineDomain, type Invariant } from '#kernel';
import type { Ruling, Trajectory } from '#runtime';
import { deskOf } from './desk.ts';

/**
 * The desk, with `approvals` doctors for `ask` and, if `pay` requires approval, `paying` approvals
 * for `pay`.
 */
export function severalOf(approvals: number, freeze: 'world' | 'footprint' = 'world', paying = 1) {
  const declared: DomainSpec<any, any> = deskOf(
    freeze,
    `${approvals} ${freeze} ${paying}`,
  ).declared;
  const invariants = declared.invariants as (rules: never) => readonly Invariant<any>[];
  return defineDomain<any, any>({
    ...declared,
    actions: {
      ...declared.actions,
      pay: { ...(declared.actions['pay'] as ActionSpec), approvals: paying },
    },
    invariants: (rules) =>
      invariants(rules as never).map((rule) =>
        rule.id === 'ASKED_IS_APPROVED' ? { ...rule, approvals } : rule,
      ),
  });
}

/** A counselor of the desk. */
export function doctor(name: string, rest: object = {}) {
  return { principal: `dr-${name}`, method: 'test', ...rest };
}

/** The id under which a proposal waits. */
export async function pendingOf(answer: Promise<Ruling> | Ruling): Promise<string> {
  const ruling = await answer;
  if (ruling.ruling !== 'escalated') throw new Error(`it was ${JSON.stringify(ruling)}`);
  return ruling.pending;
}

/** The code of the error that the attempt throws. Nothing may have been recorded. */
export async function codeOf(
  trajectory: Trajectory,
  attempt: () => Promise<unknown>,
): Promise<string> {
  const { head } = trajectory;
  const code = await attempt().then(
    (answer) => `it was answered: ${JSON.stringify(answer)}`,
    (error: { code?: string; name?: string }) => error.code ?? String(error),
  );
  if (trajectory.head !== head) throw new Error('something was recorded');
  return String(code);
}
