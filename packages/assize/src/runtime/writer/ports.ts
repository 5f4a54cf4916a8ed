import type { Policy, Reservation, WritVerifier } from '#authority';
import type { Domain, World } from '#kernel';
import type {
  Chain,
  DomainRef,
  EntrySigner,
  FactWrite,
  LedgerStore,
  PartitionName,
  Replayer,
} from '#ledger';
import type { Clock, OracleStore, Pause, Random } from '#oracle';
import type { Writs } from '../authority/writs.ts';
import type { SaltGenerator } from '../records/salts.ts';
import type { Overrides } from './known/overrides.ts';
import type { RequestIndex } from './known/request-index.ts';
import type { SourceRulings } from './known/source-rulings.ts';
import type { Notifications } from './listeners/notifications.ts';
import type { FoldedTrajectory } from './load/fold.ts';

/** The parts that an open trajectory has in memory. */
export interface TrajectoryState {
  readonly domain: Domain;
  readonly chain: Chain;
  readonly world: World;
  readonly writs: Writs;
  /** The positions of rulings and concluded delegations. */
  readonly requests: RequestIndex;
  readonly overrides: Overrides;
  /**
   * Number of erasures when memory was read. Undefined if memory may have values that were erased
   * since, or values of an erasure of its own.
   */
  readonly erasures: number | undefined;
  /**
   * The fold that the parts were copied from; a reload continues it. Undefined until another writer
   * was met.
   */
  readonly base: ReplayBase | undefined;
}

/** A fold that a reload can continue, with the number of erasures when it was read. */
export interface ReplayBase extends FoldedTrajectory {
  readonly erasures: number | undefined;
}

/** The services that the writers of one runtime share. */
export interface WriterContext {
  readonly store: LedgerStore;
  readonly clock: Clock;
  /** How far this host's clock may be ahead of the store's clock; undefined: without a limit. */
  readonly maxClockAheadMs: number | undefined;
  readonly random: Random;
  readonly verifier: WritVerifier;
  readonly policy: Policy | undefined;
  readonly signer: EntrySigner | undefined;
  /** How long a pending approval stays open, in milliseconds; undefined: without a limit. */
  readonly approvalTimeoutMs: number | undefined;
  /** How many proposals under one root writ may wait; undefined: without a limit. */
  readonly maxPendingPerRoot: number | undefined;
  readonly replayer: Replayer;
  readonly sourceRulings: SourceRulings;
  readonly oracle: Pick<OracleStore, 'oracleGet'> | undefined;
  readonly pause: Pause;
  readonly notifications: Notifications;
  /** The cached facts of memory; undefined where the store keeps no facts. */
  readonly beliefs: FactCache | undefined;
  /** Checks a trajectory's name, or makes one. @throws RuntimeError `bad_argument` */
  nameFor(given: string | undefined): string;
  /**
   * The domain that a ledger names. `upgraded`: by an upgrade. `trajectoryId`: for the message.
   * @throws RuntimeError `domain_mismatch`
   */
  domainOf(ref: DomainRef, upgraded?: boolean, trajectoryId?: string): Domain;
  /**
   * Budget reserved for compensations in this process. `committing`: the epoch of the transaction
   * that asks.
   */
  reservedFor(trajectoryId: string, committing?: number): readonly Reservation[];
  /** Reads a trajectory again: only its new entries where the last fold was kept. */
  reload(trajectoryId: string, base: ReplayBase | undefined): Promise<TrajectoryState>;
  /** Evicts cached values of a trajectory after an erasure. */
  forgetErased(trajectoryId: string): Promise<void>;
}

/** The cached facts that an append changes. */
export interface FactCache {
  /** The store answered a batch with these fact writes. */
  complete(facts: readonly FactWrite[], committed: boolean): void;
  /** The store refused a question about these partitions: the cache reads them again. */
  withdrawQuestions(partitions: readonly PartitionName[]): void;
}

/** The context of one trajectory's writer. */
export interface TrajectoryWriterContext extends WriterContext {
  /** Called after each append to an open trajectory, once it is durable. */
  readonly onDurable?: () => void;
  /** Salts for the blobs of the next entry. */
  saltGenerator(random: Random): SaltGenerator;
}
