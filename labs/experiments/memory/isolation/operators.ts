import { arg, checkArgument, deepFreeze } from 'assize/internal/base';
import { requireStrategy, type Strategy } from 'assize/internal/memory/strategy.ts';
import { join, type Level, level, TABLES } from './level.ts';

/**
 * The required isolation of an operator or a pipeline. The declared level is a claim, and the
 * enforced level is a fact.
 */
export interface Requirement {
  /** req(⊕) of Definition 1: the paper's contract of the operator. */
  readonly declared: Level;
  /**
   * The isolation of an Assize commit. It is stronger than the declared level: evidence at SI
   * admits write skew, and last writer wins at RC leaves two open rows. A commit checks the version
   * of each partition that it changes, so its reads of the partition are still current. It reads no
   * policy table: the judge log stores the first answer to a question under the policy's version,
   * and a callback is an entry of the chain. Each of these is serializable, for each partition
   * (Remark 1).
   */
  readonly enforced: Level;
}

/** @throws MemoryError `unknown_strategy` */
export function requirementOf(strategy: Strategy): Requirement {
  requireStrategy(strategy);
  return REQUIREMENTS[strategy];
}

/**
 * Theorem 12: the requirement of operators that run in sequence in one transaction, the join of
 * their requirements.
 * @throws MemoryError `unknown_strategy`
 */
export function requirementOfPipeline(operators: readonly Strategy[]): Requirement {
  checkArgument(arg.list(arg.text), operators, 'operators');
  const all = operators.map((operator) => requirementOf(operator));
  return {
    declared: join(...all.map(({ declared }) => declared)),
    enforced: join(...all.map(({ enforced }) => enforced)),
  };
}

const COMMIT = level('SI', { tablePins: TABLES });

const REQUIREMENTS: Readonly<Record<Strategy, Requirement>> = deepFreeze({
  lww: { declared: level('RC'), enforced: COMMIT },
  // Not in the paper: the winner's key differs, but reads and writes are the same.
  'lww-valid': { declared: level('RC'), enforced: COMMIT },
  evi: { declared: level('SI'), enforced: COMMIT },
  await: { declared: level('RC', { cb: true }), enforced: join(COMMIT, level('RC', { cb: true })) },
  rule: { declared: level('RC', { tablePins: ['policy'] }), enforced: COMMIT },
});
