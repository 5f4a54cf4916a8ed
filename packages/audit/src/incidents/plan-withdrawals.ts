import { STATEMENTS_MAX } from 'assize/internal/kernel';
import type { AffectedFact, AffectedStatements, BlastRadius } from '#blast';
import { OBJECT_SHOWN_MAX, type ResponseStep } from '#incident-domain';
import type { AffectedTrajectories } from './affected-trajectories.ts';

/** Withdraws the affected statements, each time in a trajectory that made one of them. */
export async function planWithdrawals(
  { facts, ended, statements: affected, entries }: BlastRadius,
  trajectories: AffectedTrajectories,
): Promise<readonly ResponseStep[]> {
  const places = new Map(entries.map(({ id, trajectoryId }) => [id, trajectoryId]));
  const steps: ResponseStep[] = [];
  for (const { statements, ...about } of affected) {
    const trajectory =
      about.branch ?? (await openAbove(places.get(statements[0]!.entry) as string, trajectories));
    const object = shown(facts.filter((fact) => isAbout(fact, about)));
    const displaced = shown(
      ended.filter((fact) => isAbout(fact, about) && isDisplaced(fact, affected)),
    );
    for (let from = 0; from < statements.length; from += STATEMENTS_MAX) {
      const part = statements.slice(from, from + STATEMENTS_MAX);
      steps.push({ kind: 'withdraw', trajectory, ...about, object, displaced, statements: part });
    }
  }
  return steps;
}

/** Whether a fact that an affected entry ended can come back without the affected statements. */
export function isDisplaced(fact: AffectedFact, affected: BlastRadius['statements']): boolean {
  return affected.some(
    (each) => isAbout(fact, each) && each.statements.some(({ entry }) => entry === fact.entry),
  );
}

function isAbout(fact: AffectedFact, about: Omit<AffectedStatements, 'statements'>): boolean {
  return (['space', 'branch', 'subject', 'predicate'] as const).every(
    (name) => fact[name] === about[name],
  );
}

function shown(facts: readonly AffectedFact[]): string {
  return [...new Set(facts.map(({ object }) => object))]
    .join(', ')
    .slice(0, OBJECT_SHOWN_MAX)
    .toWellFormed();
}

/** A delegated trajectory that has answered accepts no entry, so its delegator states it. */
async function openAbove(id: string, trajectories: AffectedTrajectories): Promise<string> {
  const { answered, delegatedFrom } = (await trajectories.replayed(id)).chain;
  return answered === undefined || delegatedFrom === undefined
    ? id
    : openAbove(delegatedFrom.trajectory_id, trajectories);
}
