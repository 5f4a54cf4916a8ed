import type { Policy, WritVerifier } from '#authority';
import type { Domain, World } from '#kernel';
import type { Chain, DomainRef, EntrySigner, LedgerStore, Replayer } from '#ledger';
import type { Embedder } from '#memory';
import type { Clock, OracleStore, Pause, Random } from '#oracle';
import type { Writs } from '../authority/writs.ts';
import type { Beliefs } from '../memory/index.ts';
import type { Salting } from '../records/payload-blobs.ts';
import type { Trajectory } from '../trajectory.ts';
import type { Effects } from '../transactions/engine/engines.ts';
import type { FoldedTrajectory } from './fold.ts';
import type { Notices } from './notifications.ts';
import type { RuledProposals } from './request-index.ts';

/** What an open trajectory is made of. */
export interface TrajectoryParts {
  readonly domain: Domain;
  readonly chain: Chain;
  readonly world: World;
  readonly writs: Writs;
  /** Where proposals were ruled on, and delegations concluded. */
  readonly ruled: RuledProposals;
  /** What all this is a copy of, and is read on from; none as long as no other writer was met. */
  readonly base: Base | undefined;
}

/** What was read, to go on from; and how many erasures there were then, as far as anybody can tell. */
export interface Base extends FoldedTrajectory {
  readonly erasures: number | undefined;
}

/** What the trajectories of one runtime share. */
export interface Surroundings {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly verifier: WritVerifier;
  readonly policy: Policy | undefined;
  readonly signer: EntrySigner | undefined;
  /** How long a pending approval stays open, in milliseconds; undefined: for ever. */
  readonly approvalMs: number | undefined;
  readonly replayer: Replayer;
  readonly oracle: Pick<OracleStore, 'oracleGet'> | undefined;
  /** The name that was given, or a new one. @throws RuntimeError `bad_name` */
  nameFor(given: string | undefined): string;
  /** The domain that a ledger names. @throws RuntimeError `domain_mismatch` */
  domainOf(ref: DomainRef): Domain;
  readonly pause: Pause;
  readonly notices: Notices;
  /** What tools are at work; undefined where there are none. */
  readonly effects: Effects | undefined;
  /** What is believed; undefined where the store keeps no facts. */
  readonly beliefs: Beliefs | undefined;
  /** Who makes vectors of what is believed, if anybody. */
  readonly embedder: Embedder | undefined;
  /** Reads a trajectory again: what is new of it where the last reading was kept. */
  reload(trajectoryId: string, base: Base | undefined): Promise<TrajectoryParts>;
  open(trajectoryId: string): Promise<Trajectory>;
  /** Values were erased in this trajectory: whatever has them in memory beside it has to forget them. */
  erased(trajectoryId: string): Promise<void>;
}

/** And what one trajectory has of its own. */
export interface WriterSurroundings extends Surroundings {
  /** For what is kept by the next entry, drawn by that chance. */
  saltsOf(random: Random): Salting;
}
