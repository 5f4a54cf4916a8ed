import type { TransactionState } from '#effects';
import { type CommitPayload, readRow } from '#ledger';
import { TRANSACTION_KEY } from '../../records/intent.ts';
import type { Proposer } from '../../records/proposer.ts';
import type { Ruling } from '../../records/ruling.ts';
import { stoppedError } from '../body/abort-reasons.ts';
import type { OpenedTransaction } from '../body/opened-transaction.ts';
import type { StartedTransaction, TransactionEngine } from '../engine/engine.ts';
import { isPromise } from '../limits/time-limit.ts';
import { previousOnFailureRuling } from '../settle/on-failure.ts';
import {
  previousEffects,
  type TransactionOutcome,
  unfinishedEffects,
} from './transaction-outcome.ts';

/**
 * The outcome if the name already has a ruling: then no attempt starts. Waits for a transaction of
 * the same name, here or in another process. Afterwards the name has a ruling, or its attempt did
 * nothing. Returns undefined immediately if the transaction has no name.
 */
export function previousOutcome(
  proposals: Proposer,
  opened: OpenedTransaction,
  started: StartedTransaction | undefined,
): Promise<TransactionOutcome<never> | undefined> | undefined {
  const asked = opened.limit.run(() => previousRuling(proposals, opened, started), stoppedError);
  return isPromise(asked)
    ? asked.then((ruling) =>
        ruling === undefined ? undefined : outcomeOf(proposals, opened, started, ruling),
      )
    : undefined;
}

/** The ruling of the name, once no transaction of that name is active. */
function previousRuling(
  proposals: Proposer,
  { engine, named, name, principal, signal }: OpenedTransaction,
  started: StartedTransaction | undefined,
): Promise<Ruling | undefined> | undefined {
  if (named === undefined) return undefined;
  const asked = (): Promise<Ruling | undefined> => proposals.rulingFor(keyOf(name), principal);
  return started === undefined
    ? asked()
    : engine.coordination.whenClear(started.work, [named], signal).then(asked);
}

async function outcomeOf(
  proposals: Proposer,
  { engine, named, principal }: OpenedTransaction,
  started: StartedTransaction | undefined,
  ruling: Ruling,
): Promise<TransactionOutcome<never>> {
  const state = await stateOf(engine, ruling);
  const failure =
    ruling.ruling === 'committed' && state?.failing !== undefined
      ? await previousOnFailureRuling(proposals, ruling.entry.id, state.failing.refusals, principal)
      : undefined;
  const doubt = named === undefined ? undefined : engine.coordination.doubtAt(named);
  const effects =
    doubt === undefined
      ? previousEffects(ruling, state)
      : unfinishedEffects(await engine.stateAt(doubt));
  if (started !== undefined) engine.discard(started.work);
  const before = { ruling, value: undefined, epoch: undefined, effects } as const;
  return failure === undefined ? before : { ...before, failure };
}

/**
 * The outcome of the effects, from the log. An approved transaction does not run under the caller's
 * name.
 */
async function stateOf(
  engine: TransactionEngine,
  ruling: Ruling,
): Promise<TransactionState | undefined> {
  if (ruling.ruling !== 'committed') return undefined;
  const [named] = (readRow(ruling.entry).payload as CommitPayload).delta.effects;
  if (named === undefined) return undefined;
  await engine.recorded();
  return engine.stateOf(named.id);
}

/** The idempotency key of the transactions of a name. */
export function keyOf(name: string): string {
  return TRANSACTION_KEY + name;
}
