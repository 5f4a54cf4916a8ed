import { type Domain, type Foreseen, foresee, type Inputs, type Intent, type PatchOperation } from '#kernel';
import { applyPatches, type Folded, fresh } from '#ledger';

/** What a thread is told. A replica is one life of one trajectory; its number is never used again. */
export type ToThread =
  | { readonly to: 'begin'; readonly replica: number; readonly state: unknown }
  /** `moves`: what was committed since it was told last. */
  | {
      readonly to: 'foresee';
      readonly replica: number;
      readonly moves: readonly PatchOperation[];
      readonly asks: readonly Ask[];
    }
  | { readonly to: 'end'; readonly replica: number };

/** A proposal to foresee. */
export interface Ask {
  readonly id: number;
  readonly intent: Intent;
  readonly inputs: Inputs;
}

/** What it says: once what domain it has, or why it has none; then an answer to each asking. */
export type FromThread =
  | { readonly from: 'ready'; readonly name: string; readonly version: string; readonly hash: string }
  | { readonly from: 'failed'; readonly why: string }
  | { readonly from: 'foreseen'; readonly answers: readonly Answer[] };

export interface Answer {
  readonly id: number;
  readonly foreseen: Foreseen | undefined;
}

/** Copies of worlds, each moved on by what is committed to it, on which proposals are foreseen. What a thread does. */
export class Replicas {
  readonly #domain: Domain;
  readonly #states: Map<number, Folded> = new Map();

  constructor(domain: Domain) {
    this.#domain = domain;
  }

  /** Answers an asking. */
  hear(message: ToThread): FromThread | undefined {
    if (message.to === 'begin') this.#states.set(message.replica, fresh(message.state as never));
    else if (message.to === 'end') this.#states.delete(message.replica);
    else return this.#foresee(message);
    return undefined;
  }

  #foresee({ replica, moves, asks }: Extract<ToThread, { to: 'foresee' }>): FromThread | undefined {
    const fold = this.#states.get(replica);
    if (fold !== undefined) applyPatches(fold, moves);
    if (asks.length === 0) return undefined;
    return {
      from: 'foreseen',
      answers: asks.map(({ id, intent, inputs }) => ({
        id,
        foreseen: fold && foresee(this.#domain, fold.state, intent, inputs),
      })),
    };
  }
}
