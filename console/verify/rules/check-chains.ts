import type { Findings } from '../bundle/findings.ts';
import { type LedgerPart, resolvesOf } from '../bundle/ledger-part.ts';
import type { Pause } from '../bundle/pause.ts';
import { canonicalOf } from '../bytes/canonical.ts';
import { holds } from '../bytes/signature.ts';
import { fromHex, utf8 } from '../bytes/text.ts';
import type { Entry, Payload } from '../entries/payloads.ts';
import { BEGINNING, type ChainState, stateAfter } from './chain-state.ts';
import { wrongCommit } from './commit.ts';
import { wrongDecision } from './decision.ts';
import { wrongDelegation } from './delegations.ts';
import { isSettlement } from './effects.ts';
import { wrongKey } from './key-rules.ts';
import { wrongPlace, wrongSuccessor } from './neighbours.ts';
import { wrongPending } from './pending.ts';
import { isClosedByUpgrade, wrongRejection } from './rejection.ts';
import { wrongSettlement } from './settlement.ts';

/** Checks each entry by the rules of the part of its chain that the bundle has. */
export async function checkChains(
  part: LedgerPart,
  findings: Findings,
  pause: Pause,
): Promise<void> {
  const rules = new ChainRules((id) => part.byId.get(id)?.payload, findings);
  for (const trajectory of part.trajectories()) {
    let state = BEGINNING;
    for (const entry of part.chainOf(trajectory)) {
      await pause();
      state = rules.take(entry, state);
    }
  }
}

/** The rules for the next entry of a chain, its signature, and the proposal that it decides. */
export class ChainRules {
  readonly #payloadOf: PayloadOf;
  readonly #findings: Findings;
  readonly #resolved = new Set<string>();

  /** `payloadOf`: the payload of an earlier entry that is known. */
  constructor(payloadOf: PayloadOf, findings: Findings) {
    this.#payloadOf = payloadOf;
    this.#findings = findings;
  }

  /** Checks the next entry of a chain, and returns the state after it. */
  take(entry: Entry, state: ChainState): ChainState {
    this.#findings.checked(
      'rules',
      'bad_entry',
      wrongEntry(entry, state, this.#payloadOf),
      entry.id,
    );
    checkSignature(entry, this.#findings);
    this.#checkDecision(entry, state);
    return stateAfter(state, entry);
  }

  /** Compares a decision with the proposal that it decides. Each proposal is decided once. */
  #checkDecision(entry: Entry, state: ChainState): void {
    const { id, payload } = entry;
    const named = resolvesOf(payload);
    if (named === undefined) return;
    const findings = this.#findings;
    if (this.#resolved.has(named))
      findings.fault('bad_entry', 'It decides a proposal that another entry has decided.', id);
    this.#resolved.add(named);
    const pending = this.#payloadOf(named);
    if (pending === undefined) return;
    if (pending.kind !== 'pending_approval') {
      findings.fault('bad_entry', 'It decides an entry that asks for nothing.', id);
      return;
    }
    const isClosed =
      payload.kind !== 'rejection' || isClosedByUpgrade(payload, pending, state.upgraded);
    const wrong =
      wrongDecision(entry, pending) ||
      (isClosed ? '' : 'It says that an upgrade closed it, and none did.');
    findings.checked('decisions', 'bad_entry', wrong, id);
  }
}

type PayloadOf = (id: string) => Payload | undefined;

function wrongEntry(entry: Entry, state: ChainState, payloadOf: PayloadOf): string {
  const { payload } = entry;
  const placed =
    wrongPlace(entry) || (state.last === undefined ? '' : wrongSuccessor(state.last, entry));
  return placed || wrongKey(payload, state) || wrongByKind(payload, state, payloadOf);
}

function wrongByKind(payload: Payload, state: ChainState, payloadOf: PayloadOf): string {
  switch (payload.kind) {
    case 'commit': {
      if (!isSettlement(payload)) return wrongCommit(payload, state);
      const pending = payload.resolves === undefined ? undefined : payloadOf(payload.resolves);
      return wrongSettlement(payload, pending, payloadOf);
    }
    case 'rejection':
      return wrongRejection(payload);
    case 'pending_approval':
      return wrongPending(payload, payloadOf);
    case 'delegation': {
      const start = payload.concludes === undefined ? undefined : payloadOf(payload.concludes);
      return wrongDelegation(payload, { first: state.first, start });
    }
    default:
      return '';
  }
}

function checkSignature({ id, payload }: Entry, findings: Findings): void {
  if (payload.signature === undefined) return;
  const { signature, ...body } = payload;
  const message = utf8(`assize/entry/v1\n${canonicalOf(body)}`);
  const isGood = holds(fromHex(signature.key), fromHex(signature.value), message);
  findings.checked('signatures', 'bad_entry', isGood ? '' : 'Its signature does not hold.', id);
}
