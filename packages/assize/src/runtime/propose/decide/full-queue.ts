import { writId } from '#authority';
import type { Hash } from '#ledger';
import type { WritChain } from '../../authority/writs.ts';
import { RuntimeError } from '../../errors.ts';
import { type NeedsFacts, needs } from '../../records/needs.ts';
import type { RulingPorts } from './proposal-ports.ts';

/**
 * Refuses a proposal that would wait where too many wait already. Expired ones are recorded first.
 *
 * @throws RuntimeError `too_many_pending`
 */
export function checkQueue({ writer, expiries }: RulingPorts, writ: WritChain): NeedsFacts | undefined {
  const { context, parts, id } = writer;
  const { maxPendingPerRoot } = context;
  if (maxPendingPerRoot === undefined) return undefined;
  const root = rootOf(writ);
  let open = 0;
  for (const [writId, count] of parts.chain.open.countsByWrit) {
    const proposed = parts.writs.get(writId);
    if (proposed !== undefined && rootOf(proposed) === root) open += count;
  }
  if (open < maxPendingPerRoot) return undefined;
  if (expiries.hasExpired()) return needs(() => expiries.recordSomeExpired());
  throw tooManyPending(id, root, open);
}

/** All writs below one root share its queue, so that no holder fills it under new writs. */
function rootOf({ writ, chain }: WritChain): Hash {
  return writId(chain.at(-1) ?? writ);
}

function tooManyPending(trajectoryId: string, root: Hash, open: number): RuntimeError {
  return new RuntimeError(
    'too_many_pending',
    `${open} proposals under the root writ ${root} and the writs below it wait for a decision in ${trajectoryId}, and no more may. Resolve some of them, or raise approvals.maxPending.`,
    { evidence: { trajectory_id: trajectoryId, writ: root, pending: open }, retryable: true },
  );
}
