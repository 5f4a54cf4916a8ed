import { resolvesOf } from '../bundle/ledger-part.ts';
import type { Commit, Entry, Payload, Root } from '../entries/payloads.ts';
import type { ChainState } from '../rules/chain-state.ts';

/**
 * The earlier entries of an export that a later one can name: proposals without a decision, commits
 * with effects, and starts of delegations. Others are not kept, so that a large export fits into a
 * tab.
 */
export class EarlierEntries {
  readonly #payloads = new Map<string, Payload>();

  readonly payloadOf = (id: string): Payload | undefined => this.#payloads.get(id);

  /** Keeps an entry, after everything about it was checked. */
  add({ id, payload }: Entry): void {
    const kept = keptOf(payload);
    if (kept !== undefined) this.#payloads.set(id, kept);
    const decided = resolvesOf(payload);
    if (decided !== undefined) this.#payloads.delete(decided);
  }
}

/** The members of an entry that the rules for a later one read. */
function keptOf(payload: Payload): Payload | undefined {
  switch (payload.kind) {
    case 'commit':
      return payload.delta.effects.length > 0 ? withoutValues(payload) : undefined;
    case 'pending_approval':
      return payload;
    case 'delegation': {
      const { begins: _begins, final_answer: _answer, ...start } = payload;
      return start;
    }
    default:
      return undefined;
  }
}

function withoutValues(commit: Commit): Payload {
  const { kind, trajectory_id, seq, at, parent, writ_id, delta } = commit;
  const effects = delta.effects.map(({ id }) => ({ id, effect: null }));
  return {
    kind,
    trajectory_id,
    seq,
    at,
    parent,
    writ_id,
    delta: { state: [], effects, beliefs: [] },
  } as never;
}

/** The state of a chain with the members of its entries that later rules read. */
export function slim(state: ChainState): ChainState {
  const { last, first } = state;
  return {
    ...state,
    last: last && { ...last, text: '', payload: placeOf(last.payload) },
    first: first && firstOf(first),
  };
}

function placeOf({ kind, trajectory_id, seq, at, parent }: Payload): Payload {
  return { kind, trajectory_id, seq, at, parent } as never;
}

function firstOf(first: Payload): Payload {
  const { delegated_from: from } = first as Root;
  return { ...placeOf(first), ...(from !== undefined && { delegated_from: from }) } as never;
}
