import { domainFrom } from '../bundle/ledger-part.ts';
import type { DomainRecord, Entry, Payload } from '../entries/payloads.ts';

/**
 * The state of a chain after the entries of it that a bundle has (format's reference, section 3).
 */
export interface ChainState {
  readonly last: Entry | undefined;
  readonly first: Payload | undefined;
  readonly key: string | undefined;
  readonly domain: DomainRecord | undefined;
  /** The seq of the last upgrade. */
  readonly upgraded: number | undefined;
}

export const BEGINNING: ChainState = {
  last: undefined,
  first: undefined,
  key: undefined,
  domain: undefined,
  upgraded: undefined,
};

export function stateAfter(state: ChainState, entry: Entry): ChainState {
  const { payload } = entry;
  const isUpgrade = payload.kind === 'commit' && payload.action.name === 'assize.upgrade';
  return {
    last: entry,
    first: state.first ?? (payload.seq === 0 ? payload : undefined),
    key: payload.kind === 'key_change' ? payload.to : payload.signature?.key,
    domain: domainFrom(payload) ?? state.domain,
    upgraded: isUpgrade ? payload.seq : state.upgraded,
  };
}
