import { copyJson, maxInstant, WORLD_LIMITS } from '#canon';
import {
  type Change,
  type Expected,
  type Foreseen,
  foreseenFrom,
  overlaps,
  type PatchOperation,
  type Pattern,
  plainPatches,
} from '#kernel';
import type { Instant } from '#ledger';
import type { Clock } from '#oracle';
import type { Gathered } from '../../records/intent.ts';
import { bindingOf, frozenFor } from '../../writer/freeze.ts';
import type { TrajectoryParts } from '../../writer/ports.ts';
import type { Hand } from './hand.ts';
import type { Hands } from './hands.ts';
import type { Ask } from './replica.ts';

/** A proposal in its turn. */
export interface Turn {
  /** When it was taken up; the ruling's time, unless the ledger is ahead of it by then. */
  readonly at: Instant;
  /** What was foreseen of it, if that can be used now. To be asked for in the same turn as the ruling. */
  expected(): Expected | undefined;
}

/** Who writes: what is in memory, which may be exchanged, and the clock. */
export interface Source {
  readonly parts: TrajectoryParts;
  readonly stale: boolean;
  readonly around: { readonly clock: Clock };
}

/** One that waits for its turn. */
interface Ticket {
  readonly gathered: Gathered;
  readonly at: Instant;
  readonly life: number;
  readonly resolve: (turn: Turn) => void;
  /** `new` ones are not planned yet, `asked` ones are with a thread; the turn of the others may come. */
  state: 'new' | 'asked' | 'settled';
  /** How far the world was that it was foreseen on. */
  base: number;
  foreseen: Foreseen | undefined;
  /** What it may write, once it was planned. */
  writes: readonly Pattern[];
}

/** What was committed, to move replicas on, and where. */
interface Move {
  readonly patches: readonly PatchOperation[];
  readonly places: readonly (readonly string[])[];
}

/** Proposals for each thread that are looked at ahead of their turn: enough that no thread waits, and few to compare. */
const AHEAD_PER_HAND = 32;
/** Askings in one message: an answer waits for those it comes with. */
const ASKS_MAX = 8;
/** Moves that a replica may be behind before it is told without anything being asked. */
const BEHIND_MAX = 256;
/** Moves that are remembered: who was foreseen before them is judged anew. */
const MOVES_MAX = 1_024;

/**
 * What proposals to one trajectory will do, found out by other threads before their turns, which come in the order in which
 * they were asked for. Nothing rests on it: what was foreseen counts as long as nothing changed that it depends on.
 *
 * A proposal is given to a thread where nothing that those before it may write meets what it is foreseen from
 * (`foreseenFrom`); it would be in vain otherwise. One alone is not, nor any while other processes write too: then all that
 * is in memory is exchanged again and again, and every replica with it.
 */
export class Foresight {
  readonly #hands: Hands;
  readonly #source: Source;
  readonly #tickets: Ticket[] = [];
  /** How far each thread's replica is. */
  readonly #replicas: Map<Hand, number> = new Map();
  #replica: number;
  /** Counts what was in memory: what was foreseen for an older one is void. */
  #life = 0;
  readonly #moves: Move[] = [];
  /** How many moves there were in all. */
  #moved = 0;
  /** Whether any replica was begun in this life; moves are remembered from then on. */
  #isBegun = false;
  #isDue = false;

  constructor(hands: Hands, source: Source) {
    this.#hands = hands;
    this.#source = source;
    this.#replica = hands.number();
  }

  /** Answers when it is the proposal's turn: those that asked before have gone on by then. */
  turn(gathered: Gathered): Promise<Turn> {
    const { promise, resolve } = Promise.withResolvers<Turn>();
    const { parts, around } = this.#source;
    this.#tickets.push({
      gathered,
      at: maxInstant(around.clock.now(), parts.chain.at),
      life: this.#life,
      resolve,
      state: 'new',
      base: 0,
      foreseen: undefined,
      writes: [],
    });
    if (!this.#isDue) {
      this.#isDue = true;
      // Who proposes in the same turn is planned together.
      queueMicrotask(() => this.#plan());
    }
    return promise;
  }

  /** The world went on by this. */
  moved(changes: readonly Change[]): void {
    if (!this.#isBegun) return;
    this.#moves.push({ patches: plainPatches(changes).map(copied), places: changes.map(({ keys }) => keys) });
    this.#moved++;
    for (const [hand, version] of this.#replicas) {
      if (hand.isGone) this.#replicas.delete(hand);
      else if (this.#moved - version >= BEHIND_MAX) this.#ask(hand, []);
    }
    if (this.#moves.length >= 2 * MOVES_MAX) this.#moves.splice(0, this.#moves.length - MOVES_MAX);
  }

  /** What is in memory is void, or not needed any more: replicas have to go too. */
  forget(): void {
    for (const hand of this.#replicas.keys()) hand.forget(this.#replica);
    this.#replicas.clear();
    this.#replica = this.#hands.number();
    this.#life++;
    this.#moves.length = 0;
    this.#moved = 0;
    this.#isBegun = false;
    for (const ticket of this.#tickets) ticket.state = 'settled';
    this.#deliver();
  }

  /** Gives what is new to the threads, as far as it is not in vain. */
  #plan(): void {
    this.#isDue = false;
    const hands = this.#hands.living();
    const isWorthIt = hands.length > 0 && this.#tickets.length > 1 && this.#isAlone();
    const planned = isWorthIt ? this.#tickets.slice(0, AHEAD_PER_HAND * hands.length) : this.#tickets;
    const asks: Ticket[] = [];
    for (const [i, ticket] of planned.entries()) {
      if (ticket.state !== 'new') continue;
      ticket.state = 'settled';
      if (isWorthIt && this.#canBeForeseen(ticket, planned.slice(0, i))) asks.push(ticket);
    }
    this.#deal(asks, hands);
    this.#deliver();
  }

  #isAlone(): boolean {
    const { stale, parts } = this.#source;
    return !stale && parts.base === undefined && this.#hands.knows(parts.domain);
  }

  #canBeForeseen(ticket: Ticket, before: readonly Ticket[]): boolean {
    const { domain, chain } = this.#source.parts;
    const { intent } = ticket.gathered;
    const binding = bindingOf(domain, intent);
    if (binding === undefined) return false;
    ticket.writes = binding.writes;
    if (frozenFor(chain, domain, intent) !== undefined) return false;
    const from = foreseenFrom(domain, binding);
    return !before.some(({ writes }) => writes.some((write) => from.some((pattern) => overlaps(pattern, write))));
  }

  /** A few in a row to each, the least busy first. */
  #deal(asks: readonly Ticket[], hands: readonly Hand[]): void {
    const size = Math.min(ASKS_MAX, Math.ceil(asks.length / Math.max(1, hands.length)));
    for (let from = 0; from < asks.length; from += size) {
      const hand = hands.reduce((least, other) => (other.load < least.load ? other : least));
      this.#ask(hand, asks.slice(from, from + size));
    }
  }

  #ask(hand: Hand, tickets: readonly Ticket[]): void {
    const { world } = this.#source.parts;
    if (!this.#replicas.has(hand)) {
      this.#isBegun = true;
      hand.begin(this.#replica, world.state);
      this.#replicas.set(hand, this.#moved);
    }
    const moves = this.#since(this.#replicas.get(hand) as number).flatMap(({ patches }) => patches);
    this.#replicas.set(hand, this.#moved);
    hand.ask(
      this.#replica,
      moves,
      tickets.map((ticket) => [this.#askOf(ticket), (foreseen) => this.#answered(ticket, foreseen)] as const),
    );
  }

  #askOf(ticket: Ticket): Ask {
    ticket.state = 'asked';
    ticket.base = this.#moved;
    const { gathered, at } = ticket;
    return {
      id: this.#hands.number(),
      intent: gathered.intent,
      inputs: { at, observations: gathered.observed },
    };
  }

  #answered(ticket: Ticket, foreseen: Foreseen | undefined): void {
    ticket.foreseen = foreseen;
    ticket.state = 'settled';
    this.#deliver();
  }

  /** Those whose turn it is; what is new has its own once these have gone on. */
  #deliver(): void {
    const first = this.#tickets.findIndex(({ state }) => state !== 'settled');
    const due = this.#tickets.splice(0, first < 0 ? this.#tickets.length : first);
    for (const ticket of due) ticket.resolve({ at: ticket.at, expected: () => this.#expected(ticket) });
    if (due.length === 0 || this.#isDue || !this.#tickets.some(({ state }) => state === 'new')) return;
    this.#isDue = true;
    setImmediate(() => this.#plan());
  }

  #expected({ foreseen, life, base }: Ticket): Expected | undefined {
    const isKnown = life === this.#life && base >= this.#moved - this.#moves.length;
    if (foreseen === undefined || !isKnown || !this.#isAlone()) return undefined;
    return { foreseen, since: this.#since(base).flatMap(({ places }) => places) };
  }

  #since(version: number): readonly Move[] {
    return this.#moves.slice(this.#moves.length - (this.#moved - version));
  }
}

/** The value goes on with the state. By itself, as the ledger may have it: it can be as deep as JSON may be. */
function copied(patch: PatchOperation): PatchOperation {
  return patch.op === 'remove' ? patch : { ...patch, value: copyJson(patch.value, WORLD_LIMITS) };
}
