import { form, requireForm } from '#base';
import { requireStrategy, type Strategy } from '../strategy.ts';
import { join, type Level, level, TABLES } from './level.ts';

/** What has to hold around an operator, or a pipeline of them. The two are never mixed up: one is a claim, the other a fact. */
export interface Requirement {
  /** req(⊕) of Definition 1: the contract that the paper types the operator with. */
  readonly declared: Level;
  /**
   * What a commit of Assize holds. It is more than is declared: evidence at SI admits write skew, and last writer wins at RC leaves two
   * open rows. A commit checks the version of each partition that it changes, so that what it has read there is of one instant and still
   * so. It reads no table of policies: the judge log takes the first answer to a question, under the version of the policy, and a callback is
   * an entry of the chain. What is promised is that each of these is serializable, partition by partition (Remark 1).
   */
  readonly enforced: Level;
}

/** @throws MemoryError `unknown_strategy` */
export function requirementOf(strategy: Strategy): Requirement {
  requireStrategy(strategy);
  return REQUIREMENTS[strategy];
}

/**
 * Theorem 12: what operators need that run one after the other in one transaction, the join of what each needs.
 * @throws MemoryError `unknown_strategy`
 */
export function requirementOfPipeline(operators: readonly Strategy[]): Requirement {
  requireForm(form.list(form.text), operators, 'operators');
  const all = operators.map((operator) => requirementOf(operator));
  return {
    declared: join(...all.map(({ declared }) => declared)),
    enforced: join(...all.map(({ enforced }) => enforced)),
  };
}

const COMMIT = level('SI', { tablePins: TABLES });

const REQUIREMENTS: Readonly<Record<Strategy, Requirement>> = {
  lww: { declared: level('RC'), enforced: COMMIT },
  // Not of the paper: the winner's key is another, what it reads and writes is the same.
  'lww-valid': { declared: level('RC'), enforced: COMMIT },
  evi: { declared: level('SI'), enforced: COMMIT },
  await: { declared: level('RC', { cb: true }), enforced: join(COMMIT, level('RC', { cb: true })) },
  rule: { declared: level('RC', { tablePins: ['policy'] }), enforced: COMMIT },
};
