import type { Ruling as KernelRuling } from '#kernel';
import type { Instant } from '#ledger';
import type { ErasedPartition } from '../../memory/plan/close-erased.ts';
import { type PlannedBeliefs, requireFactStore } from '../../memory/plan/plan-beliefs.ts';
import { escalateForAnswers } from '../../memory/plan/questions.ts';
import type { GatheredProposal } from '../../records/intent.ts';
import type { NeedsFacts } from '../../records/needs.ts';
import type { PayloadBlobs } from '../../records/payload-blobs.ts';
import type { RulingPorts } from './proposal-ports.ts';

/** The facts that a proposal changes are planned under these terms. */
export interface StatementTerms {
  readonly at: Instant;
  /**
   * The start of valid time for statements without a time of their own. Default: the time of the
   * ruling.
   */
  readonly assertedAt?: Instant | undefined;
  /** The partitions that lose facts in an erasure. */
  readonly losing: readonly ErasedPartition[];
  /**
   * The ruling is only foreseen: no judge of contradictions is asked. `stateOnly`: the statements
   * are not compared with facts, because only the current ones are known.
   */
  readonly foreseen?: 'completely' | 'stateOnly' | undefined;
}

/**
 * Plans an approved proposal on the current facts. If the facts do not fit, the proposal is refused
 * or escalated.
 */
export function planStatements(
  { writer, beliefs }: RulingPorts,
  judged: KernelRuling,
  gathered: GatheredProposal,
  { at, assertedAt, losing, foreseen }: StatementTerms,
  kept: PayloadBlobs,
): { readonly judged: KernelRuling; readonly believed?: PlannedBeliefs } | NeedsFacts {
  if (judged.verdict !== 'approved') return { judged };
  const { id, generation } = writer;
  if (losing.length > 0) {
    const believed = requireFactStore(beliefs).planErasure(losing, at, { trajectoryId: id, generation });
    return { judged, believed };
  }
  if (judged.compiled.statements.length === 0 || foreseen === 'stateOnly') return { judged };
  const { domain } = writer.parts;
  const planned = requireFactStore(beliefs).plan({
    call: gathered,
    generation,
    compiled: judged.compiled,
    proposalId: gathered.proposalId,
    trajectoryId: id,
    at,
    assertedAt,
    predicates: domain.memory?.predicates ?? {},
    blobs: kept,
    isJudgement: foreseen !== undefined,
  });
  if (planned !== undefined && 'needs' in planned) {
    judged.undo();
    return planned;
  }
  if (planned === undefined || 'changes' in planned) return { judged, ...(planned && { believed: planned }) };
  if ('questions' in planned) return { judged: escalateForAnswers(domain, judged, planned, assertedAt) };
  judged.undo();
  const { policy } = judged.compiled;
  const detail = `${planned.refusal.code}: ${planned.refusal.message}`;
  return { judged: { verdict: 'rejected', reason: 'precondition_failed', detail, ...(policy && { policy }) } };
}
